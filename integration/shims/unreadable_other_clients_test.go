// SPDX-License-Identifier: Apache-2.0

package shims

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/containerd/containerd/api/types/runc/options"
	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// A container whose runtime options cannot be read is not started with other options.
func TestL22_ContainerOfOthersIsNotStartedWithOtherOptions(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx := namespaces.WithNamespace(WithinAMinute(t), elsewhere)
	c := newForeign(ctx, t, n, "options", func(o *options.Options) { o.BinaryName = "/opt/sandboxed/runtime" })
	_, err := startForeign(ctx, c)
	require.ErrorContains(t, err, "/opt/sandboxed/runtime", "only that program starts it")
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, OverwriteIn(n, elsewhere, []byte{0xff}, "containers", "options", "runtime", "options"))
	require.NoError(t, n.Boot(ctx))
	Promise(t, "L22", "it is not started by another program", KeptOnStock, func(t require.TestingT) {
		c, err := n.Containerd().LoadContainer(ctx, "options")
		if err != nil {
			return
		}
		_, err = startForeign(ctx, c)
		assert.Error(t, err)
	})
	endForeign(ctx, t, n, "options")
}

// In a container whose specification cannot be read, no process is started with more privileges
// than the specification has.
func TestL22_ProcessInAContainerOfOthersHasNoMorePrivileges(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx := namespaces.WithNamespace(WithinAMinute(t), elsewhere)
	task, err := startForeign(ctx, newForeign(ctx, t, n, "spec"))
	require.NoError(t, err)
	status := func(pid uint32) string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		require.NoError(t, err)
		var kept []string
		for line := range strings.Lines(string(text)) {
			for _, of := range []string{"Uid:", "NoNewPrivs:", "CapEff:", "CapBnd:"} {
				if strings.HasPrefix(line, of) {
					kept = append(kept, strings.Join(strings.Fields(line)[:2], " "))
				}
			}
		}
		return strings.Join(kept, ", ")
	}
	was := status(task.Pid())
	require.Contains(t, was, "NoNewPrivs: 1")
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, OverwriteIn(n, elsewhere, []byte{0xff}, "containers", "spec", "spec"))
	require.NoError(t, n.Boot(ctx))
	Promise(t, "L22", "an additional process has no more privileges", KeptOnStock, func(t require.TestingT) {
		c, err := n.Containerd().LoadContainer(ctx, "spec")
		if err != nil {
			return
		}
		spec, err := c.Spec(ctx)
		require.NoError(t, err)
		task, err := c.Task(ctx, nil)
		require.NoError(t, err)
		p := spec.Process // docker exec and nerdctl exec -w / start from it
		p.Args, p.Cwd = []string{"/pause"}, "/"
		added, err := task.Exec(ctx, "added", p, cio.NullIO)
		if err != nil {
			return
		}
		defer added.Delete(ctx, containerd.WithProcessKill)
		if err := added.Start(ctx); err != nil {
			return
		}
		assert.Equal(t, was, status(added.Pid()))
	})
	endForeign(ctx, t, n, "spec")
}

// A container that another client has made in CRI's namespace, with a label of CRI's and without
// its metadata, is not CRI's: a kubelet would stop and remove it.
func TestL22_ContainerOfOthersIsNotTakenForOneOfCRI(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx := namespaces.WithNamespace(WithinAMinute(t), "k8s.io")
	kinds := []string{"container", "sandbox"}
	for _, kind := range kinds {
		c := newForeign(ctx, t, n, kind)
		_, err := c.SetLabels(ctx, map[string]string{"io.cri-containerd.kind": kind})
		require.NoError(t, err)
		_, err = startForeign(ctx, c)
		require.NoError(t, err)
	}
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.Boot(ctx))
	Promise(t, "L22", "it is in no list of CRI", KeptOnStock, func(t require.TestingT) {
		left, err := n.CRI().Left(ctx)
		require.NoError(t, err)
		assert.Empty(t, left)
	})
	for _, kind := range kinds {
		endForeign(ctx, t, n, kind)
	}
}
