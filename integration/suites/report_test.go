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
		"tests are called by all that they are in": {
			report: `[{"SpecReports": [
				{"LeafNodeType": "BeforeSuite", "State": "passed"},
				{"ContainerHierarchyTexts": ["Container", "log"], "LeafNodeType": "It", "LeafNodeText": "reopens", "State": "failed"},
				{"ContainerHierarchyTexts": ["Pod"], "LeafNodeType": "It", "LeafNodeText": "runs", "State": "skipped"}]}]`,
			want: Results{"Container log reopens": "failed", "Pod runs": "skipped"},
		},
		"a suite that did not begin": {
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
	stock := Results{"a": "passed", "b": "passed", "c": "passed", "d": "failed", "e": "skipped"}
	hookline := Results{"a": "passed", "b": "failed", "d": "passed", "e": "failed"}
	require.Equal(t, []string{"b", "c"}, Worse(stock, hookline), "c did not run at all")
	require.Empty(t, Worse(stock, stock))

	var b strings.Builder
	require.NoError(t, Table(&b, stock, hookline))
	require.Contains(t, b.String(), "| b | passed | failed |\n| c | passed | not there |\n")
}

func TestOutermost(t *testing.T) {
	require.Equal(t, []string{"TestA", "TestB"}, Outermost([]string{"TestA", "TestA/part", "TestB/part", "TestB/rest"}))
	require.Empty(t, Outermost(nil))
}
