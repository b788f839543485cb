// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/hookline-nri/hookline/conformance/report/traceformat"
)

var began = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// sample has a case of each verdict, and records.
func sample() *Report {
	end := began.Add(30 * time.Millisecond)
	r := &Report{
		Format: Format, Started: began, Seconds: 2, Repeat: 1, Command: []string{"nri-conformance"},
		Runtime: Runtime{Name: "a <runtime>", Version: "1"}, Host: Host{Cgroup: "v2"},
		Profiles: []Profile{{Name: "pod"}, {Name: "teardown"}, {Name: "network"}, {Name: "restart"}},
		Cases: []Case{
			{Name: "L1_Order", Rule: "L1", Profile: "pod", Run: 1, Verdict: Passed, Started: began, Seconds: 1},
			{Name: "L9_Reaches", Rule: "L9", Profile: "teardown", Run: 1, Verdict: Failed, Started: began, Seconds: 1, Trace: "0123456789abcdef0123456789abcdef",
				Promises: []Promise{{Rule: "L9", Holds: "it comes", Verdict: Failed, Seen: "it | did <b>not</b>"}},
				Calls:    []Call{{Name: "StopPodSandbox", Of: "web", Start: began, End: end, Span: "0123456789abcdef"}},
				Plugins: []Connection{{Plugin: "10-hangs", Number: 1, Events: []Event{
					{Name: "StopPodSandbox", Pod: "web", Start: began.Add(time.Millisecond)}, {Name: "RunPodSandbox", Pod: "web", Start: began, End: &end, Error: "no"},
				}}}},
			{Name: "L8_Restart", Rule: "L8", Profile: "restart", Run: 1, Verdict: Unsupported, Reason: "no commands", Started: began},
			{Name: "L2_Delivered", Rule: "L2", Profile: "pod", Run: 1, Verdict: Skipped, Reason: "known", Started: began},
		},
	}
	r.Sum()
	return r
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("report.schema.json")
	require.NoError(t, err)
	return s
}

func requireValid(t *testing.T, text []byte) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	require.NoError(t, schema(t).Validate(document))
}

func TestDocumentKeepsItsSchema(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sample().JSON(&b))
	requireValid(t, b.Bytes())
	back, err := Read(&b)
	require.NoError(t, err)
	require.Equal(t, sample().Cases, back.Cases)

	document, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(`{"format": "nri-conformance/0"}`)))
	require.NoError(t, err)
	require.Error(t, schema(t).Validate(document))
}

// A case that did not run has not passed.
func TestVerdictsOfProfiles(t *testing.T) {
	r := sample()
	require.Equal(t, Partial, r.Profiles[0].Verdict, "one is skipped")
	require.Equal(t, Failed, r.Profiles[1].Verdict)
	require.Equal(t, Unsupported, r.Profiles[2].Verdict, "no cases")
	require.Equal(t, Unsupported, r.Profiles[3].Verdict)
	require.Equal(t, 1, r.Exit())
	r.Cases[0].Verdict = Error
	require.Equal(t, 2, r.Exit())
	r.Cases = r.Cases[2:3]
	require.Equal(t, 0, r.Exit())
}

// A case with the verdict error has a reason, and may have failures, too.
func TestReasonStandsApart(t *testing.T) {
	r := sample()
	r.Cases[1].Verdict, r.Cases[1].Reason = Error, "too slow to tell"
	var b strings.Builder
	require.NoError(t, r.Markdown(&b))
	require.Contains(t, b.String(), "| too slow to tell<br>L9 it comes: ")
}

func TestForms(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, sample().WriteAll(folder, true))
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		return text
	}
	requireValid(t, read("report.json"))

	var suites junitSuites
	require.NoError(t, xml.Unmarshal(read("junit.xml"), &suites))
	require.Equal(t, 1, suites.Suites[1].Failures)
	require.Contains(t, suites.Suites[1].Cases[0].Failure.Text, "it | did")

	page := string(read("report.html"))
	require.Contains(t, page, "a &lt;runtime&gt;")
	require.Contains(t, page, "it | did &lt;b&gt;not&lt;/b&gt;")
	require.NotContains(t, page, "http://localhost")
	require.Contains(t, string(read("report.md")), `it \| did &lt;b>not&lt;/b>`)

	traces, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(read("traces.otlp.json"))
	require.NoError(t, err)
	require.Equal(t, 4, traces.SpanCount(), "the case, a call, two events")
	require.Equal(t, "0123456789abcdef0123456789abcdef", traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).TraceID().String())

	traceformat.RequireOTLP(t, read("traces.otlp.json"))
	require.Len(t, traceformat.RequireTraceEvents(t, read("traces.chrome.json")), 8, "a process and its place, three tracks, since two events overlap, a call, two events")
}

// A report has the command as typed, so that it can be typed again.
func TestCommandIsAsTyped(t *testing.T) {
	require.Equal(t, `nri-conformance --soon 5s --stop-command 'kill $(cat /run/pid)' --skip 'L1=it'\''s known' ''`,
		shell([]string{"nri-conformance", "--soon", "5s", "--stop-command", "kill $(cat /run/pid)", "--skip", "L1=it's known", ""}))
}

// Threads of two cases have different ids, and none has the id of another case's process.
func TestThreadsAreOfOneCase(t *testing.T) {
	r := sample()
	r.Cases = slices.Insert(r.Cases, 2, r.Cases[1])
	var b bytes.Buffer
	require.NoError(t, r.Chrome(&b))
	require.Len(t, traceformat.RequireTraceEvents(t, b.Bytes()), 16)
}

// A name stands in its bar, behind one that is too short, or nowhere if the next bar is near. Bars
// that look like one are named together.
func TestNamesInAPicture(t *testing.T) {
	line := pictureLine{Bars: []pictureBar{
		{X: 100, W: 200, Class: "work"},
		{X: 400, W: 2, Class: "call"},
		{X: 600, W: 2, Class: "call"},
		{X: 610, W: 2, Class: "call"},
		{X: 612, W: 2, Class: "hangs"},
	}}
	line.name([]Span{{Name: "RunPodSandbox"}, {Name: "StopPodSandbox"}, {Name: "StopContainer"}, {Name: "A"}, {Name: "B"}})
	var at []float64
	var texts, on []string
	for _, b := range line.Bars {
		at, texts, on = append(at, b.At), append(texts, b.Text), append(on, b.On)
	}
	require.Equal(t, []string{"RunPodSandbox", "StopPodSandbox", "", "", "A, B"}, texts)
	require.Equal(t, []float64{104, 406, 0, 0, 618}, at)
	require.Equal(t, []string{"on work-on", "label", "", "", "label"}, on)
}

func TestPictureHasALegendAndNoRandomNames(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	end := start.Add(time.Second)
	c := Case{Name: "L9_Hang", Started: start, Seconds: 1, Plugins: []Connection{{
		Plugin: "10-hangs-6614443d", Number: 2, Events: []Event{{Name: "StopPodSandbox", Start: start, End: &end}},
	}}}
	require.Equal(t, "10-hangs-6614443d #2", c.Timeline().Tracks[0].Name, "traces have whole names")
	var b strings.Builder
	require.NoError(t, c.Timeline().SVG(&b))
	require.Contains(t, b.String(), ">10-hangs #2</text>")
	require.NotContains(t, b.String(), "6614443d")
	for _, l := range legend {
		require.Contains(t, b.String(), ">"+l.text+"</text>")
	}
	require.Contains(t, b.String(), ">L9_Hang</text>")
	require.Contains(t, b.String(), "prefers-color-scheme:dark")
}

// The reasons why cases did not run come first, then failed cases, passed ones, and unsupported
// ones.
func TestOrderOfTheReports(t *testing.T) {
	r := &Report{
		Profiles: []Profile{{Name: "pod", Verdict: Failed}},
		Lacks:    []Lack{{Reason: "needs <commands>", Help: "--start-command", Cases: 1}},
		Cases: []Case{
			{Name: "L15_Unsupported", Profile: "pod", Verdict: Unsupported, Reason: "needs <commands>"},
			{Name: "L1_Passed", Profile: "pod", Verdict: Passed},
			{Name: "L2_Failed", Profile: "pod", Verdict: Failed},
		},
	}
	r.Sum()
	var page, text, junit strings.Builder
	require.NoError(t, r.JUnit(&junit))
	require.Equal(t, 3, strings.Count(junit.String(), "<testcase "), junit.String())
	require.Equal(t, 1, strings.Count(junit.String(), "<skipped"), "unsupported is skipped there")
	require.NoError(t, r.HTML(&page))
	require.NoError(t, r.Markdown(&text))
	inOrder(t, page.String(), "1: it needs &lt;commands&gt;.", "<code>--start-command</code>", "<table>", "Failed<", "Passed<", "1 unsupported", "Unsupported<")
	inOrder(t, text.String(), "- 1: it needs &lt;commands>. `--start-command`", "| profile", "| L2_Failed", "| L1_Passed", "<details><summary>1 unsupported", "- L15_Unsupported: it needs")
}

func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		_, after, found := strings.Cut(text, part)
		require.True(t, found, "%q in the order of %q", part, parts)
		text = after
	}
}

func TestNamesThatDifferOnlyInTheirEndsKeepThem(t *testing.T) {
	two := Timeline{Tracks: []Track{{Name: "CRI"}, {Name: "10-a-6614443d"}, {Name: "10-a-11112222"}}}
	require.Equal(t, []string{"CRI", "10-a-6614443d", "10-a-11112222"}, two.names())
}
