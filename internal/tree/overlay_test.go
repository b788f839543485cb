// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// An overlay is a file system like any other: with files from below, and with files that it hides
// and adds.
func TestOverlay(t *testing.T) {
	below := fstest.MapFS{
		"go.mod":      {Data: []byte("module m\n")},
		"a/a.go":      {Data: []byte("package a\n")},
		"a/b/b.go":    {Data: []byte("package b\n")},
		"a/hidden.go": {Data: []byte("package a // before\n")},
		"a/gone.go":   {Data: []byte("package a\n")},
	}
	o := overlay{below, map[string][]byte{
		"a/hidden.go":     []byte("package a // after\n"),
		"a/new.go":        []byte("package a\n"),
		"new/deep/new.go": []byte("package deep\n"),
		"top.go":          []byte("package m\n"),
		"a/gone.go":       nil,
	}}
	require.NoError(t, fstest.TestFS(o, "go.mod", "a/a.go", "a/b/b.go", "a/hidden.go", "a/new.go", "new/deep/new.go", "top.go"))

	content, err := fs.ReadFile(o, "a/hidden.go")
	require.NoError(t, err)
	require.Equal(t, "package a // after\n", string(content))
	_, err = fs.ReadFile(o, "a/gone.go")
	require.ErrorIs(t, err, fs.ErrNotExist)
	entries, err := fs.ReadDir(o, "a")
	require.NoError(t, err)
	require.Len(t, entries, 4)
	_, err = fs.Stat(o, "new/none.go")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
