// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The socket has its mode also if another socket was left at its path.
func TestSocketMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nri.sock")
	for _, mode := range []fs.FileMode{DefaultSocketMode, 0o660, 0o777, 0} {
		left, err := net.Listen("unix", path)
		require.NoError(t, err)
		left.(*net.UnixListener).SetUnlinkOnClose(false)
		require.NoError(t, left.Close())
		require.NoError(t, os.Chmod(path, 0o751))

		r := &Adaptation{socketPath: path, ending: make(chan struct{})}
		require.NoError(t, WithSocketPermissions(mode, -1, -1)(r))
		require.NoError(t, r.startListener())
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm())
		r.stopListener()
	}
}

func TestSocketPermissions(t *testing.T) {
	r := &Adaptation{}
	require.ErrorContains(t, WithSocketPermissions(fs.ModeSetuid|0o600, -1, -1)(r), "no such permissions")
	require.ErrorContains(t, WithSocketPermissions(0o600, -2, -1)(r), "no such permissions")
	require.ErrorContains(t, WithSocketPermissions(0o600, -1, -2)(r), "no such permissions")
}

// The socket appears with no permissions: no process can connect before its mode is set.
func TestSocketComesClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nri.sock")
	l, err := (&net.ListenConfig{Control: closedToAll}).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	defer l.Close()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm())
}
