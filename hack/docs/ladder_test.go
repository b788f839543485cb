// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

// withLadder is a repository with a ladder of a core group and another one.
func withLadder(t *testing.T, record string) (Repository, Pages) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ladder.json"), []byte(record), 0o644))
	return Repository{Root: dir, Series: edit.Series{Groups: []edit.Group{{Folder: "patches/small", Core: true}, {Folder: "patches/large"}}},
			Sizes: map[string]Size{"small": {Code: 30}, "large": {Code: 400}}},
		Pages{Groups: "docs/upstreaming.md", Ladder: "ladder.json"}
}

const ladder = `[
	{"name": "released", "state": "of released", "passed": ["A"], "failed": ["B", "C"]},
	{"name": "newest", "state": "of newest", "passed": ["A"], "failed": ["B", "C"]},
	{"name": "small", "state": "of small", "passed": ["A", "C"], "failed": ["B"]},
	{"name": "large", "state": "of large", "passed": ["A", "B", "C"]}
]`

func TestLadder(t *testing.T) {
	r, p := withLadder(t, ladder)
	c, err := ladderContent(r, p)
	require.NoError(t, err)
	require.Empty(t, c.problems)
	require.Equal(t, `| pull request | lines | pass | pass now | fail now |
|---|---|---|---|---|
| none: containerd as released | | 1 of 3 | | |
| none: with the NRI and go-cni that the patches are made for | | 1 of 3 | | |
| [`+"`small`"+`](../patches/small/pull.md) | 30 | 2 of 3 | `+"`C`"+` | |
| [`+"`large`"+`](../patches/large/pull.md) | 400 | 3 of 3 | `+"`B`"+` | |
`, c.text)

	c, err = summaryContent(r, p)
	require.NoError(t, err)
	require.Equal(t, `| containerd | lines changed | cases that pass | unsupported |
|---|---|---|---|
| as released | 0 | 1 of 3 | 0 |
| with the core | 30 | 2 of 3 | 0 |
| with the whole series | 430 | 3 of 3 | 0 |
`, c.text)
}

// The record may lack pull requests behind the core, at its end or among others: the table says so.
func TestLadderThatGoesOn(t *testing.T) {
	r, p := withLadder(t, `[{"name": "released", "state": "a"}, {"name": "newest", "state": "b"}, {"name": "small", "state": "c", "passed": ["A"]}]`)
	c, err := ladderContent(r, p)
	require.NoError(t, err)
	require.Empty(t, c.problems)
	require.Contains(t, c.text, "| [`large`](../patches/large/pull.md) | 400 | not run yet | | |\n")
	c, err = summaryContent(r, p)
	require.NoError(t, err)
	require.NotContains(t, c.text, "whole")
}

func TestLadderWithANewPullRequest(t *testing.T) {
	r, p := withLadder(t, ladder)
	r.Series.Groups = append(r.Series.Groups[:1:1], edit.Group{Folder: "patches/new"}, r.Series.Groups[1])
	r.Sizes["new"] = Size{Code: 50}
	c, err := ladderContent(r, p)
	require.NoError(t, err)
	require.Empty(t, c.problems)
	require.Contains(t, c.text, "| [`new`](../patches/new/pull.md) | 50 | not run yet | | |\n"+
		"| [`large`](../patches/large/pull.md) | 400 | 3 of 3 | `B` | |\n")
	c, err = summaryContent(r, p)
	require.NoError(t, err)
	require.Contains(t, c.text, "| with the whole series | 480 | 3 of 3 | 0 |")
}

// A case that fails with a group and passed before it is a problem, and so is a ladder of
// another series.
func TestLadderThatIsWrong(t *testing.T) {
	for says, record := range map[string]string{
		"A fails with small and passes before it": `[{"name": "released", "state": "of released"}, {"name": "newest", "state": "of newest", "passed": ["A"]}, {"name": "small", "state": "of small", "failed": ["A"]}, {"name": "large", "state": "of large"}]`,
		"the ladder is not that of the series":    `[{"name": "released", "state": "of released"}, {"name": "newest", "state": "of newest"}, {"name": "large", "state": "of large"}]`,
	} {
		r, p := withLadder(t, record)
		for _, make := range []func(Repository, Pages) (content, error){ladderContent, summaryContent} {
			c, err := make(r, p)
			require.NoError(t, err)
			require.ErrorContains(t, errors.Join(c.problems...), says)
		}
	}
	r, p := withLadder(t, "[")
	_, err := ladderContent(r, p)
	require.Error(t, err)
}
