// SPDX-License-Identifier: Apache-2.0

package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/pkg/netns"
)

// A network namespace is removed at any stage of its creation: mounted, or with only its
// file, or with only a known path.
func TestUndoOfANetworkNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a network namespace takes root")
	}
	sandbox := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{})
	require.NoError(t, undoNetNS(&sandbox), "its path is not known")

	mounted, err := netns.NewNetNS(t.TempDir())
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{mounted.GetPath(), file, filepath.Join(t.TempDir(), "none")} {
		sandbox.NetNSPath = path
		require.NoError(t, undoNetNS(&sandbox))
		require.NoFileExists(t, path)
		require.Empty(t, sandbox.NetNSPath)
	}

	sandbox.NetNS, err = netns.NewNetNS(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, undoNetNS(&sandbox))
	closed, err := sandbox.NetNS.Closed()
	require.NoError(t, err)
	require.True(t, closed)
}
