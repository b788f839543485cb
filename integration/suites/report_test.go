// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	for name, tc := range map[string]struct {
		report string
		want   Results
		fails  string
	}{
		"a test's name includes its containers": {
			report: `[{"SpecReports": [
				{"LeafNodeType": "BeforeSuite", "State": "passed"},
				{"ContainerHierarchyTexts": ["Container", "log"], "LeafNodeType": "It", "LeafNodeText": "reopens", "State": "failed"},
				{"ContainerHierarchyTexts": ["Pod"], "LeafNodeType": "It", "LeafNodeText": "runs", "State": "skipped"}]}]`,
			want: Results{"Container log reopens": {State: "failed"}, "Pod runs": {State: "skipped"}},
		},
		"messages without compared values": {
			report: `[{"SpecReports": [
				{"LeafNodeType": "It", "LeafNodeText": "a", "State": "failed", "Failure": {"Message": "Timed out after 1s.\nno event\nExpected\n    <int>: 1"}},
				{"LeafNodeType": "It", "LeafNodeText": "b", "State": "failed", "Failure": {"Message": "failed to start\nUnexpected error:\n    <*status.Error | 0xc0>"}},
				{"LeafNodeType": "It", "LeafNodeText": "c", "State": "panicked", "Failure": {"Message": "Test Panicked"}}]}]`,
			want: Results{"a": {State: "failed", Reason: "Timed out after 1s.\nno event"}, "b": {State: "failed", Reason: "failed to start"}, "c": {State: "panicked", Reason: "Test Panicked"}},
		},
		"the file of a test, and the reason of a skip": {
			report: `[{"SpecReports": [
				{"LeafNodeType": "It", "LeafNodeText": "ends", "LeafNodeLocation": {"FileName": "a/end.go"}, "State": "passed"},
				{"LeafNodeType": "It", "LeafNodeText": "joins", "LeafNodeLocation": {"FileName": "a/join.go"}, "State": "skipped", "Failure": {"Message": "it is lost"}}]}]`,
			want: Results{"ends": {State: "passed", File: "a/end.go"}, "joins": {State: "skipped", Reason: "it is lost", File: "a/join.go"}},
		},
		"a suite that did not start": {
			report: `[{"SpecReports": [{"LeafNodeType": "BeforeSuite", "State": "panicked"}]}]`,
			fails:  "BeforeSuite of critest: panicked",
		},
		"nothing ran": {
			report: `[{"SpecReports": [{"LeafNodeType": "It", "LeafNodeText": "runs", "State": "skipped"}]}]`,
			fails:  "no test ran",
		},
		"no report": {report: `[`, fails: "unexpected end"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.json")
			require.NoError(t, os.WriteFile(file, []byte(tc.report), 0o600))
			got, err := read(file)
			if tc.fails != "" {
				require.ErrorContains(t, err, tc.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestWorse(t *testing.T) {
	states := []string{"passed", "skipped", "failed", "timedout", ""}
	stock, hookline := Results{}, Results{}
	for _, before := range states {
		for _, after := range states {
			name := before + " to " + after
			if before != "" {
				stock[name] = Result{State: before}
			}
			if after != "" {
				hookline[name] = Result{State: after}
			}
		}
	}
	require.Equal(t, []string{
		"passed to ", "passed to failed", "passed to skipped", "passed to timedout",
		"skipped to ", "skipped to failed", "skipped to timedout",
	}, Worse(stock, hookline))
	require.Empty(t, Worse(stock, stock))
}

func TestTable(t *testing.T) {
	var b strings.Builder
	stock := Results{"b": {State: "passed"}, "a": {State: "failed"}}
	require.NoError(t, Table(&b, stock, Results{"a": {State: "passed"}}))
	require.Equal(t, "| test | stock | hookline |\n|---|---|---|\n| a | failed | passed |\n| b | passed | missing |\n", b.String())

	b.Reset()
	lost, none := Result{State: "skipped", Reason: strings.Repeat("0a", 32) + "\n  is <lost>"}, Result{State: "skipped", Reason: "no a|b"}
	require.NoError(t, Table(&b,
		Results{"a": lost, "b": none, "c": lost, "d": {State: "passed"}, "e": {State: "failed", Reason: strings.Repeat("ä", 300)}},
		Results{"a": {State: "passed"}, "b": none, "c": none, "d": none, "e": {State: "passed"}}))
	require.Equal(t, `| test | stock | hookline | reason |
|---|---|---|---|
| a | skipped | passed | 0a0a0a0a0a0a0 is &lt;lost&gt; |
| b | skipped | skipped | no a\|b |
| c | skipped | skipped | stock: 0a0a0a0a0a0a0 is &lt;lost&gt;<br>hookline: no a\|b |
| d | passed | skipped | hookline: no a\|b |
| e | failed | passed | `+strings.Repeat("ä", 240)+`… |
`, b.String())
}

func TestSplit(t *testing.T) {
	all := Results{"a": {File: "ours"}, "b": {File: "theirs"}}
	ours, theirs := all.Split(func(r Result) bool { return r.File == "ours" })
	require.Equal(t, Results{"a": {File: "ours"}}, ours)
	require.Equal(t, Results{"b": {File: "theirs"}}, theirs)
}

func TestOutermost(t *testing.T) {
	require.Equal(t, []string{"TestA", "TestB"}, Outermost([]string{"TestA", "TestA/part", "TestB/part", "TestB/rest"}))
	require.Empty(t, Outermost(nil))
}
