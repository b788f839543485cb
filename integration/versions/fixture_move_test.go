// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// build is a containerd that a node can move to, by its folder below built. Promises about moves
// hold for all builds: these tests are the same whichever build RUNTIME names.
type build string

const (
	patched build = "bin"
	core    build = "core/bin" // the small patches at the begin of the series
	stock   build = "stock/bin"
)

// mover is a node that moves between builds.
type mover struct {
	*node.Node
	folders map[build]string
}

// startMover starts a node with a build. Its containerd, or shims, make the sandboxes of pods.
func startMover(t *testing.T, first build, byShim bool) *mover {
	t.Helper()
	m := &mover{folders: map[build]string{}}
	options := map[build]node.Options{}
	for _, b := range []build{patched, core, stock} {
		o := Binaries()
		o.Bin = filepath.Join(Built, string(b))
		if err := o.Check(); errors.Is(err, node.ErrPrerequisite) && os.Getenv("CI") == "" {
			t.Skip(err)
		} else {
			require.NoError(t, err)
		}
		if byShim {
			require.NoError(t, o.SandboxesByShim(withSandboxShim(t)))
		}
		o.RequestTimeout = 30 * time.Second
		m.folders[b], options[b] = o.Bin, o
	}
	m.Node = StartNode(t, func(o *node.Options) { *o = options[first] })
	return m
}

// withSandboxShim returns a folder that has sandboxshim and nothing else.
func withSandboxShim(t *testing.T) string {
	t.Helper()
	from, err := SandboxShim()
	require.NoError(t, err)
	folder := t.TempDir()
	const shim = "containerd-shim-runc-v2"
	require.NoError(t, os.Symlink(filepath.Join(from, shim), filepath.Join(folder, shim)))
	return folder
}

// moveTo kills containerd, unless it has ended, and goes on with another build.
func (m *mover) moveTo(t *testing.T, b build) {
	t.Helper()
	require.NoError(t, m.Kill(WithinAMinute(t)))
	require.NoError(t, m.Move(m.folders[b]))
	require.NoError(t, m.Boot(WithinAMinute(t)))
}

// eachController runs a test with both ways to make a sandbox.
func eachController(t *testing.T, test func(t *testing.T, byShim bool)) {
	t.Run("sandboxes of containerd", func(t *testing.T) { test(t, false) })
	t.Run("sandboxes of shims", func(t *testing.T) { test(t, true) })
}

// runMore runs another container in a pod, which must be Ready.
func runMore(ctx context.Context, t require.TestingT, n Runtime, pod string, config *runtime.PodSandboxConfig, name string) (container string) {
	container, err := n.CRI().Create(ctx, pod, config, n.CRI().Container(name))
	require.NoError(t, err)
	require.NoError(t, n.CRI().Start(ctx, container))
	require.NoError(t, n.Settled(ctx, container))
	return container
}

// killInHook kills a node's containerd while a plugin handles a pod's hook.
func killInHook(t *testing.T, n *node.Node, name string) InHook {
	t.Helper()
	p := plugin.New("10", "holds")
	Connect(t, n, p)
	pod := NewInHook(t, n, p, name)
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.Error(t, <-pod.Ran)
	pod.Gate.Release()
	return pod
}
