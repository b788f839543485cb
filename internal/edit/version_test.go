// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSeriesAt(t *testing.T) {
	drop := func(path string) Edit { return DropFile(path) }
	s := Series{Patches: []Patch{
		{Module: "m", Edits: []Edit{drop("all"), drop("old").Below("v2.4"), drop("new").Since("v2.4"), drop("fix").Since("v2.3.5").Below("v2.4")}},
		{Module: "other", Edits: []Edit{drop("old").Below("v2.4")}},
	}}
	paths := func(p Patch) []string {
		var paths []string
		for _, e := range p.Edits {
			paths = append(paths, e.Path())
		}
		return paths
	}
	for version, want := range map[string][]string{
		"v2.3.4":        {"all", "old"},
		"v2.3.7":        {"all", "old", "fix"},
		"v2.4.0-beta.1": {"all", "new"},
		"v2.4.2":        {"all", "new"},
		"v2.10.0":       {"all", "new"},
	} {
		at := s.At("m", version)
		assert.Equal(t, want, paths(at.Patches[0]), version)
		assert.Equal(t, []string{"old"}, paths(at.Patches[1]), "another module has other versions")
	}
	assert.Len(t, s.Patches[0].Edits, 4, "the series stays as it is")
}

func TestBoundsAreVersions(t *testing.T) {
	for _, v := range []string{"2.4", "v2.4.0-rc.1", "next"} {
		assert.ErrorContains(t, DropFile("x").Below(v).bounds(), `want one like v2.4`)
		assert.ErrorContains(t, DropFile("x").Since(v).bounds(), `want one like v2.4`)
	}
	assert.NoError(t, DropFile("x").Below("v2.4").Since("v2.3.1").bounds())
}
