// SPDX-License-Identifier: Apache-2.0

package integration

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

	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/conformance/report/traceformat"
	"github.com/hookline-nri/hookline/integration/image"
)

// The conformance test's program, as people run it: its report tells what the runtime is, and
// the spans of a runtime that traces are in the trace of the case, below the calls of CRI that
// the program made.
func TestSpansOfTheRuntimeJoinTheTraceOfACase(t *testing.T) {
	t.Parallel()
	n := startNode(t, traced)
	traces := receiveTraces(t, n)
	folder, built := t.TempDir(), buildProgram(t, "../cmd/nri-conformance")
	program := exec.CommandContext(withinAMinute(t), built, "--runtime-endpoint", "unix://"+n.CRISocket(),
		"--nri-socket", n.NRISocket(), "--image", image.Name, "--cgroup-parent", n.PodCgroup(), "--report-dir", folder, "--timelines",
		"--case", "L1_EventsOfAPodComeInOrder")
	out, err := program.CombinedOutput()
	require.NoError(t, err, "%s", out)

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
	requireSoon(t, "the spans of RunPodSandbox below the call", func(context.Context) error {
		calls, err := trees(traces, "RunPodSandbox")
		for _, call := range calls {
			if call.Trace == r.Cases[0].Trace && call.Parent == run.SpanID().String() && call.child("cri.sandbox.run", nil) != nil {
				return err
			}
		}
		return errors.Join(err, fmt.Errorf("none of %d calls is", len(calls)))
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
