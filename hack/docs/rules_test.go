// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

func readRulesOf(t *testing.T, page string) []rule {
	t.Helper()
	file := filepath.Join(t.TempDir(), "contract.md")
	require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
	rules, err := readRules(file)
	require.NoError(t, err)
	return rules
}

func TestRulesAreBelowHeadingsOfTheirOwn(t *testing.T) {
	rules := readRulesOf(t, "# A\n\n## B\n\n### L1 Order\nOne\ntwo.\n\n### N1 Ready\nIt is.\n\n## C\n\nMore.\n\n### no rule\n\nL2 Not one.\n")
	require.Equal(t, []rule{
		{kind: "L", number: 1, heading: "L1 Order", text: []string{"One", "two."}},
		{kind: "N", number: 1, heading: "N1 Ready", text: []string{"It is."}},
	}, rules)
}

func TestRulesAreShort(t *testing.T) {
	at := func(id string, lines ...string) rule {
		number, err := strconv.Atoi(id[1:])
		require.NoError(t, err)
		return rule{kind: id[:1], number: number, text: lines}
	}
	for name, test := range map[string]struct {
		rules []rule
		want  string // empty: no error
	}{
		"in order":         {rules: []rule{at("L9", "a"), at("L10", "a", "b", "c", "d"), at("N1", "a"), at("N2", "a")}},
		"one is missing":   {[]rule{at("L9", "a"), at("L11", "a")}, "p.md: L11 comes after L9"},
		"one comes twice":  {[]rule{at("L9", "a"), at("L9", "a")}, "p.md: L9 comes after L9"},
		"begins with two":  {[]rule{at("L9", "a"), at("N2", "a")}, "p.md: N2 comes after L9"},
		"five lines":       {[]rule{at("L1", "a", "b", "c", "d", "e")}, "p.md: L1 has 5 lines, and may have 1 to 4"},
		"says nothing":     {[]rule{at("L1")}, "p.md: L1 has 0 lines, and may have 1 to 4"},
		"a line that long": {[]rule{at("L1", strings.Repeat("é", ruleWidth), strings.Repeat("é", ruleWidth+1))}, "p.md: L1 has a line of 131 characters, and may have 130"},
	} {
		t.Run(name, func(t *testing.T) {
			errs := unread("p.md", test.rules)
			if test.want == "" {
				require.Empty(t, errs)
				return
			}
			require.Len(t, errs, 1)
			require.EqualError(t, errs[0], test.want)
		})
	}
}

// A pull request is named once, however many of its patches keep a rule. A patch without a pull
// request is named itself.
func TestKeepersArePullRequests(t *testing.T) {
	keeps := func(slug, folder string) edit.Patch {
		return edit.Patch{Module: "m", Slug: slug, In: folder, Rules: []string{"L1"}}
	}
	s := edit.Series{
		Patches: []edit.Patch{keeps("a", "patches/s/one"), keeps("b", "patches/s/one"), keeps("c", "patches/build"), {Slug: "d", In: "patches/s/two"}},
		Groups:  []edit.Group{{Folder: "patches/s/one"}, {Folder: "patches/s/two"}},
	}
	require.Equal(t, []string{"[`one`](../patches/s/one/pull.md)", "`m/c`"}, keepersOf(s, "docs/proofs.md", "L1"))
}

func TestTestsAreCountedByFolder(t *testing.T) {
	tests := []proof{{"L1", "a", "b/x_test.go"}, {"L1", "b", "a/c/y_test.go"}, {"L1", "c", "b/z_test.go"}, {"L1", "d", "a/c/d/e/f_test.go"}}
	require.Equal(t, "[b](../b) 2, [a/c](../a/c) 2", testCell(tests, "docs/proofs.md"))
}
