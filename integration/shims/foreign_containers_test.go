// SPDX-License-Identifier: Apache-2.0

package shims

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/containerd/containerd/api/types/runc/options"
	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// elsewhere is a namespace that CRI does not use.
const elsewhere = "others"

// newForeign makes a container like a client other than CRI. It must not gain privileges.
func newForeign(ctx context.Context, t *testing.T, n *node.Node, id string, with ...func(*options.Options)) containerd.Container {
	t.Helper()
	root := t.TempDir()
	program, err := os.ReadFile(Pause)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "pause"), program, 0o755))
	for _, mountpoint := range []string{"dev", "proc", "run", "sys"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, mountpoint), 0o755))
	}
	runc := &options.Options{Root: filepath.Join(n.Folder(), "runc")} // the default is one for all nodes
	for _, set := range with {
		set(runc)
	}
	c, err := n.Containerd().NewContainer(ctx, id,
		containerd.WithRuntime("io.containerd.runc.v2", runc),
		containerd.WithNewSpec(oci.WithRootFSPath(root), oci.WithProcessArgs("/pause"), oci.WithNoNewPrivileges,
			oci.WithUserID(1000), oci.WithCgroup(n.PodCgroup()+"/"+id)))
	require.NoError(t, err)
	return c
}

func startForeign(ctx context.Context, c containerd.Container) (task containerd.Task, err error) {
	task, err = c.NewTask(ctx, cio.NullIO)
	if err != nil {
		return nil, err
	}
	return task, task.Start(ctx)
}

// killForeign ends a task like docker restart: its container stays.
func killForeign(ctx context.Context, t require.TestingT, task containerd.Task) {
	exit, err := task.Wait(ctx)
	require.NoError(t, err)
	require.NoError(t, task.Kill(ctx, unix.SIGKILL))
	require.NoError(t, (<-exit).Error())
	_, err = task.Delete(ctx)
	require.NoError(t, err)
}

func endForeign(ctx context.Context, t *testing.T, n *node.Node, id string) {
	c, err := n.Containerd().LoadContainer(ctx, id)
	if err != nil {
		return
	}
	if task, err := c.Task(ctx, nil); err == nil {
		_, err = task.Delete(ctx, containerd.WithProcessKill)
		assert.NoError(t, err)
	}
	assert.NoError(t, c.Delete(ctx))
}
