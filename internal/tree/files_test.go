// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An export replaces the last one and leaves other files alone.
func TestReplaceMails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "m")
	require.NoError(t, replaceMails(dir, []mail{{"0001-a.patch", []byte("a")}, {"0002-b.patch", []byte("b")}}))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.patch"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".new-1234"), nil, 0o644))
	require.NoError(t, replaceMails(dir, []mail{{"0001-b.patch", []byte("B")}}))

	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"0001-b.patch", "notes.patch"}, names)
	content, err := os.ReadFile(filepath.Join(dir, "0001-b.patch"))
	require.NoError(t, err)
	require.Equal(t, "B", string(content))
}

// Folders that were copied from the module cache are read-only, but can be removed.
func TestRemoveAllReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "b"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b", "c"), nil, 0o444))
	require.NoError(t, os.Chmod(filepath.Join(dir, "b"), 0o555))
	require.NoError(t, removeAll(dir))
	require.False(t, exists(dir))
	require.NoError(t, removeAll(dir), "it does not exist")
}
