// SPDX-License-Identifier: Apache-2.0

package server

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/pkg/netns"
)

// While its namespace exists, another client may attach the sandbox.
func TestSandboxIsDetachedWhenItsNamespaceIsGone(t *testing.T) {
	gone := netns.LoadNetNS(filepath.Join(t.TempDir(), "gone"))
	sandbox := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{Detached: true})
	sandbox.NetNS = netns.LoadNetNS("/proc/self/ns/net")
	assert.False(t, isDetached(&sandbox))
	sandbox.NetNS = gone
	assert.True(t, isDetached(&sandbox))

	sandbox = sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{})
	sandbox.NetNS = gone
	assert.False(t, isDetached(&sandbox), "no DEL is known to have succeeded")
}
