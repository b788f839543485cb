// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/conformance/report/traceformat"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The conformance test's program, as users run it: its report describes the runtime, and the spans
// of a runtime that traces are in the trace of the case, below the program's calls of CRI.
func TestSpansOfTheRuntimeJoinTheTraceOfACase(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithTraces)
	traces := ReceiveTraces(t, n)
	folder := t.TempDir()
	runConformance(t, n, "--report-dir", folder, "--timelines", "--case", "L1_EventsOfAPodComeInOrder")

	file, err := os.Open(filepath.Join(folder, "report.json"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, file.Close()) }()
	r, err := report.Read(file)
	require.NoError(t, err)
	require.Len(t, r.Cases, 1)
	require.Equal(t, report.Passed, r.Cases[0].Verdict)
	require.Equal(t, "containerd", r.Runtime.Name)
	require.Regexp(t, `^v\d+\.\d+\.\d+`, r.Runtime.NRI.Version)

	text, err := os.ReadFile(filepath.Join(folder, "traces.chrome.json"))
	require.NoError(t, err)
	require.NotEmpty(t, traceformat.RequireTraceEvents(t, text))
	text, err = os.ReadFile(filepath.Join(folder, "traces.otlp.json"))
	require.NoError(t, err)
	traceformat.RequireOTLP(t, text)
	run := requireCall(t, text, "RunPodSandbox")
	require.Equal(t, r.Cases[0].Trace, run.TraceID().String())
	RequireSoon(t, "the spans of RunPodSandbox below the call", func(context.Context) error {
		calls, err := Trees(traces, "RunPodSandbox")
		for _, call := range calls {
			if call.Trace == r.Cases[0].Trace && call.Parent == run.SpanID().String() && call.Child("cri.sandbox.run", nil) != nil {
				return err
			}
		}
		return errors.Join(err, fmt.Errorf("no span is below one of %d calls", len(calls)))
	})
}

// runConformance runs the conformance test's program on a node.
func runConformance(t *testing.T, n *node.Node, args ...string) {
	t.Helper()
	program := exec.CommandContext(WithinAMinute(t), BuildProgram(t, "../../cmd/nri-conformance"), append([]string{
		"--runtime-endpoint", "unix://" + n.CRISocket(), "--nri-socket", n.NRISocket(),
		"--image", image.Name, "--cgroup-parent", n.PodCgroup(),
	}, args...)...)
	out, err := program.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// After the conformance test a runtime keeps no missed events of the test's plugins, and still
// keeps those of others.
func TestL18_ConformanceTestLeavesNoMissedEvents(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	p := JoinNamed(t, n, plugin.Script{Index: "50", Name: "disconnected"})
	l := NewLife(t, n, "pod")
	p.Goes(t)
	l.End(t)
	if !RunsOnStock { // these cases fail on stock
		runConformance(t, n, "--report-dir", t.TempDir(), "--case", "L3_EndsAreDeliveredWhilePluginsCrashAndReturn", "--case", "L18_EndsWhileAPluginIsDisconnectedAreDeliveredOnReturn")
	}
	Promise(t, "L18", "missed events are kept only for the plugin that was disconnected before", OnStock("it keeps none"), func(t require.TestingT) {
		gone := ReadNRI(t, n).DisconnectedPlugins
		require.Len(t, gone, 1)
		require.NoError(t, HasMissed(t, n, p.Name(), len(EveryEnd)))
	})
}

// requireCall returns the first span of a call of CRI in OTLP's JSON.
func requireCall(t *testing.T, text []byte, name string) (call ptrace.Span) {
	t.Helper()
	all, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(text)
	require.NoError(t, err)
	for _, of := range all.ResourceSpans().All() {
		for _, span := range of.ScopeSpans().At(0).Spans().All() {
			if span.Name() == name && span.Kind() == ptrace.SpanKindClient {
				return span
			}
		}
	}
	require.Fail(t, "no call", name)
	return call
}
