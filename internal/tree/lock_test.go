// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

// The second of two runs in one folder fails, with an error that names the first. When the first
// ends, the folder is free.
func TestTwoRuns(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	first, err := Open(edit.Series{}, t.TempDir(), out, "build", nil)
	require.NoError(t, err)
	_, err = Open(edit.Series{}, t.TempDir(), out, "apply", nil)
	require.EqualError(t, err, fmt.Sprintf("%s is in use by pid %d (build): wait until it ends, or choose another folder with --output", out, os.Getpid()))
	require.NoError(t, first.Close())

	next, err := Open(edit.Series{}, t.TempDir(), out, "apply", nil)
	require.NoError(t, err)
	require.NoError(t, next.Close())
}

// A lock file that a killed run left locks nothing.
func TestStaleLockFile(t *testing.T) {
	out := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(out, "lock"), []byte("pid 1 (build)\n"), 0o644))
	w, err := Open(edit.Series{}, t.TempDir(), out, "apply", nil)
	require.NoError(t, err)
	require.NoError(t, w.Close())
}
