// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/integration/node"
)

// lingering is a shim that takes a while to end, in the folder where containerd keeps the
// sockets of shims by default: there a shim knows the name of its socket without its bundle.
const lingering = `version = 3
[plugins."io.containerd.shim.v1.manager"]
socket_dir = "/run/containerd/s"
env = ["SHIM_END=100ms"]
`

// The clients that are no CRI give the next task of a container the same id, and with it
// its shim's socket the same name: as docker restart does. The shim before it takes a while
// to end, and removes its socket by that name.
func TestL15_ContainerThatIsStartedAgainOutlivesContainerd(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(filepath.Dir(pause), "lingering")
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(folder, shim), "./lingeringshim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	n := startNode(t, func(o *node.Options) {
		require.NoError(t, o.SandboxesByShim(folder)) // for the folder alone
		o.Config = lingering
	})
	ctx := namespaces.WithNamespace(withinAMinute(t), "others")
	c := containerOfOthers(ctx, t, n, "again")

	promise(t, "L15", "a container that is started again as soon as its task is deleted outlives containerd", onStock("it gets the shim that is about to end"), func(t require.TestingT) {
		task := startTask(ctx, t, c)
		for range 5 {
			before, err := n.Shim(c.ID())
			require.NoError(t, err)
			deleteTask(ctx, t, task)
			task = startTask(ctx, t, c)
			requireSoon(t, "the end of the shim before it", func(context.Context) error {
				if program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", before)); err == nil {
					return fmt.Errorf("process %d still runs %s", before, program)
				}
				return nil
			})
			require.FileExists(t, socketOf(t, n, c.ID()))
		}
		require.NoError(t, n.Stop(ctx))
		require.NoError(t, n.Boot(ctx))
		require.NoError(t, unix.Kill(int(task.Pid()), 0))
		found, err := n.Containerd().LoadContainer(ctx, c.ID())
		require.NoError(t, err)
		task, err = found.Task(ctx, nil)
		require.NoError(t, err)
		deleteTask(ctx, t, task)
	})
}

// containerOfOthers makes a container as clients do that are no CRI.
func containerOfOthers(ctx context.Context, t *testing.T, n *node.Node, id string) containerd.Container {
	t.Helper()
	root := t.TempDir()
	program, err := os.ReadFile(pause)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "pause"), program, 0o755))
	for _, mountpoint := range []string{"dev", "proc", "run", "sys"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, mountpoint), 0o755))
	}
	c, err := n.Containerd().NewContainer(ctx, id, containerd.WithRuntime("io.containerd.runc.v2", nil),
		containerd.WithNewSpec(oci.WithRootFSPath(root), oci.WithProcessArgs("/pause"), oci.WithCgroup(n.PodCgroup()+"/"+id)))
	require.NoError(t, err)
	return c
}

func startTask(ctx context.Context, t require.TestingT, c containerd.Container) containerd.Task {
	task, err := c.NewTask(ctx, cio.NullIO)
	require.NoError(t, err)
	require.NoError(t, task.Start(ctx))
	return task
}

func deleteTask(ctx context.Context, t require.TestingT, task containerd.Task) {
	exit, err := task.Wait(ctx)
	require.NoError(t, err)
	require.NoError(t, task.Kill(ctx, unix.SIGKILL))
	require.NoError(t, (<-exit).Error())
	_, err = task.Delete(ctx)
	require.NoError(t, err)
}

// socketOf is the path of the socket of a task's shim.
func socketOf(t require.TestingT, n *node.Node, id string) string {
	found, err := filepath.Glob(filepath.Join(n.Folder(), "state", "io.containerd.runtime.v2.task", "*", id, "bootstrap.json"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	text, err := os.ReadFile(found[0])
	require.NoError(t, err)
	var boot struct{ Address string }
	require.NoError(t, json.Unmarshal(text, &boot))
	return strings.TrimPrefix(boot.Address, "unix://")
}
