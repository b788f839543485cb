// SPDX-License-Identifier: Apache-2.0

package shims

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// usualSockets keeps the sockets of shims in containerd's default folder: there a shim knows the
// name of its socket without its bundle.
const usualSockets = `version = 3
[plugins."io.containerd.shim.v1.manager"]
socket_dir = "/run/containerd/s"
`

// lingering sets a shim that takes a while to end.
const lingering = usualSockets + `env = ["SHIM_END=100ms"]
`

// Clients other than CRI give the next task of a container the same id, as docker restart does, and
// so the socket of its shim has the same name. The previous shim takes a while to end, and removes
// its socket by that name.
func TestL15_ContainerThatIsStartedAgainOutlivesContainerd(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(filepath.Dir(Pause), "lingering")
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(folder, RuncShim), "../lingeringshim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	n := StartNode(t, func(o *node.Options) {
		require.NoError(t, o.SandboxesByShim(folder)) // only for its folder
		o.Config = lingering
	})
	ctx := namespaces.WithNamespace(WithinAMinute(t), elsewhere)
	c := newForeign(ctx, t, n, "again")

	Promise(t, "L15", "a container that is started again as soon as its task is deleted outlives containerd", OnStock("it is given the shim that is about to end"), func(t require.TestingT) {
		task, err := startForeign(ctx, c)
		require.NoError(t, err)
		for range 5 {
			before, err := n.Shim(c.ID())
			require.NoError(t, err)
			killForeign(ctx, t, task)
			task, err = startForeign(ctx, c)
			require.NoError(t, err)
			requireShimEnds(t, before)
			require.FileExists(t, socketOf(t, n, c.ID()))
		}
		require.NoError(t, n.Stop(ctx))
		require.NoError(t, n.Boot(ctx))
		require.NoError(t, unix.Kill(int(task.Pid()), 0))
		found, err := n.Containerd().LoadContainer(ctx, c.ID())
		require.NoError(t, err)
		task, err = found.Task(ctx, nil)
		require.NoError(t, err)
		killForeign(ctx, t, task)
	})
}

// requireShimEnds waits until a shim that was shut down has ended.
func requireShimEnds(t require.TestingT, pid int) {
	RequireSoon(t, "the end of the shim", func(context.Context) error {
		if program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil {
			return fmt.Errorf("process %d still runs %s", pid, program)
		}
		return nil
	})
}

// socketOf returns the path of the socket of a task's shim.
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
