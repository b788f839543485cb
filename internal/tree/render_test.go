// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

// two patches over one file of one module: the second builds on the first.
func two(first, second string) edit.Series {
	patch := func(slug, text string) edit.Patch {
		return edit.Patch{
			Slug: slug, Module: "m", Subject: "m: " + slug, Body: "Why.", Refs: []string{"o/m#1"}, Status: edit.Carry, Until: "never",
			Edits: []edit.Edit{edit.In("m.go", edit.Type("T")).InsertBefore(text)},
		}
	}
	return edit.Series{
		Modules: []edit.Module{{Name: "m", Path: "example.com/m"}},
		Patches: []edit.Patch{patch("first", first), patch("second", second)},
	}
}

func source(t *testing.T) Source {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "m.go"), []byte("package m\n\ntype T struct{}\n"), 0o644))
	return Source{Module: edit.Module{Name: "m", Path: "example.com/m"}, Version: "v1.0.0", Sum: "h1:x", Dir: dir}
}

// A key stands for a commit with all its parents: the same input has the same keys, and a change
// changes the keys from its place on.
func TestKeys(t *testing.T) {
	s := source(t)
	keys := func(series edit.Series, s Source) []string {
		plans, err := render(series, []Source{s}, fstest.MapFS{})
		require.NoError(t, err)
		require.Len(t, plans, 1)
		keys := []string{plans[0].key}
		for _, c := range plans[0].changes {
			keys = append(keys, c.key)
		}
		return keys
	}
	want := keys(two("const A = 1\n", "const B = 1\n"), s)
	require.Equal(t, want, keys(two("const A = 1\n", "const B = 1\n"), s))

	last := keys(two("const A = 1\n", "const B = 2\n"), s)
	require.Equal(t, want[:2], last[:2])
	require.NotEqual(t, want[2], last[2])

	first := keys(two("const A = 2\n", "const B = 1\n"), s)
	require.Equal(t, want[:1], first[:1])
	require.NotEqual(t, want[1], first[1])
	require.NotEqual(t, want[2], first[2])

	reworded := two("const A = 1\n", "const B = 1\n")
	reworded.Patches[1].Body = "Another why."
	require.Equal(t, want[:2], keys(reworded, s)[:2])
	require.NotEqual(t, want[2], keys(reworded, s)[2])

	other := s
	other.Version = "v1.0.1"
	require.NotEqual(t, want[0], keys(two("const A = 1\n", "const B = 1\n"), other)[0])
}

// The limits between the parts of a key count.
func TestKeyParts(t *testing.T) {
	require.NotEqual(t, key("ab", "c"), key("a", "bc"))
	require.NotEqual(t, key("a"), key("a", ""))
}

func TestMessage(t *testing.T) {
	require.Equal(t, `nri: tell everybody

Why this is.

Fixes: #12
See: #63
See: containerd/containerd#13698
`, message(edit.Patch{
		Module: "nri", Slug: "tell-everybody", Subject: "nri: tell everybody", Body: "\nWhy this is.\n",
		Fixes: []string{"containerd/nri#12"}, Refs: []string{"containerd/nri#63", "containerd/containerd#13698"}, Rules: []string{"L8", "L9"},
	}, repository("github.com/containerd/nri")))
}
