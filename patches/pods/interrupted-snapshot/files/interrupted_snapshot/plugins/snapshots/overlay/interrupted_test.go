// SPDX-License-Identifier: Apache-2.0

//go:build linux

package overlay

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A kill between the rename of a snapshot's folder and the commit of its record leaves the folder
// alone.
func TestSnapshotReplacesAnInterruptedOne(t *testing.T) {
	root := t.TempDir()
	sn, err := NewSnapshotter(root)
	require.NoError(t, err)
	defer sn.Close()
	left := filepath.Join(root, "snapshots", "1", "fs", "left")
	require.NoError(t, os.MkdirAll(left, 0o755))

	mounts, err := sn.Prepare(t.Context(), "next", "")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, "snapshots", "1", "fs"), mounts[0].Source, "the test knows the number of the next snapshot")
	require.NoDirExists(t, left)
}
