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
	s := Series{
		Modules: []Module{{Name: "m", Path: "example.com/m"}},
		Patches: []Patch{patch("build", Drop), patch("small", Upstream), patch("large", Upstream)},
		Groups: []Group{
			{Name: "small", Title: "small", Core: true, Patches: []string{"m/small"}},
			{Name: "large", Title: "large", Patches: []string{"m/large"}},
		},
	}
	s.Patches[2].Needs = []string{"m/small"}
	change(&s)
	return s
}

func TestCoreIsWhereTheSeriesBegins(t *testing.T) {
	s := coreSeries(func(*Series) {})
	require.NoError(t, s.Validate())
	require.Equal(t, s.Patches[:2], s.Core().Patches)
	require.Equal(t, s.Groups[:1], s.Core().Groups)
	require.NoError(t, s.Core().Validate())
	require.Equal(t, s.Patches[:1], s.UpTo(0).Patches, "what only builds is always there")
	require.Equal(t, s.Patches[:2], s.UpTo(1).Patches)
	require.Equal(t, s.Patches, s.UpTo(2).Patches)
	require.Equal(t, s.Groups[:1], s.Needs(s.Groups[1]), "what is needed comes first")

	for name, c := range map[string]struct {
		change func(s *Series)
		says   string
	}{
		"after another": {func(s *Series) { s.Patches[1], s.Patches[2] = s.Patches[2], s.Patches[1]; s.Patches[1].Needs = nil }, "m/small: is of the core, and comes after m/large, which is not"},
		"needs another": {func(s *Series) { s.Patches[1].Needs = []string{"m/large"} }, "m/small: is of the core, and needs m/large, which is not"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, coreSeries(c.change).Validate(), c.says)
		})
	}
}
