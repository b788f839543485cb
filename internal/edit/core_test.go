// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func coreSeries(change func(s *Series)) Series {
	patch := func(slug string, status Status) Patch {
		return Patch{Slug: slug, Module: "m", Subject: "m: change it", Body: "Why.", Refs: []string{"o/m#1"}, Status: status, Until: "never"}
	}
	large := patch("large", Upstream)
	large.Needs = []string{"m/small"}
	s := Assemble([]Module{{Name: "m", Path: "example.com/m"}}, Group{Patches: []Patch{patch("build", Drop)}},
		Group{Folder: "small", Core: true, Patches: []Patch{patch("small", Upstream)}},
		Group{Folder: "large", Patches: []Patch{large}})
	change(&s)
	return s
}

func TestCoreIsWhereTheSeriesBegins(t *testing.T) {
	s := coreSeries(func(*Series) {})
	require.NoError(t, s.Validate())
	require.Equal(t, s.Patches[:2], s.Core().Patches)
	require.Equal(t, s.Groups[:1], s.Core().Groups)
	require.NoError(t, s.Core().Validate())
	require.Equal(t, s.Patches[:1], s.UpTo(0).Patches, "patches that only build are always in it")
	require.Equal(t, s.Patches[:2], s.UpTo(1).Patches)
	require.Equal(t, s.Patches, s.UpTo(2).Patches)
	require.Equal(t, s.Groups[:1], s.Needs(s.Groups[1]), "needed groups come first")

	for name, c := range map[string]struct {
		change func(s *Series)
		says   string
	}{
		"after another":        {func(s *Series) { s.Patches[1], s.Patches[2] = s.Patches[2], s.Patches[1]; s.Patches[1].Needs = nil }, "m/small: belongs to the core, but comes after m/large, which does not"},
		"needs another":        {func(s *Series) { s.Patches[1].Needs = []string{"m/large"} }, "m/small: belongs to the core, but needs m/large, which does not"},
		"two of one name":      {func(s *Series) { s.Groups[1].Folder = "other/small" }, "group other/small: another group has that name"},
		"more than the series": {func(s *Series) { s.Groups[1].Patches = append(s.Groups[1].Patches, Patch{Module: "m", Slug: "more"}) }, "group large: patch m/more is not in the series"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, coreSeries(c.change).Validate(), c.says)
		})
	}
}
