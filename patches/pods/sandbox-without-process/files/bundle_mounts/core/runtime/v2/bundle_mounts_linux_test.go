// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/moby/sys/mountinfo"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// What a shim has mounted in its bundle is unmounted with it. A bundle whose mounts are in use stays,
// until it is removed again.
func TestBundleIsUnmountedBeforeItIsRemoved(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	b := &Bundle{Path: filepath.Join(t.TempDir(), "bundle")}
	mounts := []string{filepath.Join(b.Path, "shm"), filepath.Join(b.Path, "ns", "ipc")}
	for _, at := range mounts {
		require.NoError(t, os.MkdirAll(at, 0o700))
		require.NoError(t, unix.Mount("shm", at, "tmpfs", 0, ""))
	}
	used, err := os.Create(filepath.Join(mounts[0], "used"))
	require.NoError(t, err)
	require.Error(t, b.Delete())
	require.FileExists(t, used.Name(), "nothing is removed in a mount")
	require.NoError(t, used.Close())

	require.NoError(t, b.Delete())
	left, err := mountinfo.GetMounts(mountinfo.PrefixFilter(filepath.Dir(b.Path)))
	require.NoError(t, err)
	require.Empty(t, left)
	entries, err := os.ReadDir(filepath.Dir(b.Path))
	require.NoError(t, err)
	require.Empty(t, entries)
}
