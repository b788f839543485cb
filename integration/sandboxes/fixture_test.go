// SPDX-License-Identifier: Apache-2.0

// Package sandboxes has the tests of pods without a pause container.
package sandboxes

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/moby/sys/mountinfo"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// startWithoutPause runs a node whose pods have no pause container.
func startWithoutPause(t *testing.T) *node.Node {
	t.Helper()
	skipOnStock(t)
	return StartNode(t, WithNeeds(Patient), withoutPause)
}

func withoutPause(o *node.Options) { o.WithoutPause = true }

func skipOnStock(t *testing.T) {
	t.Helper()
	if RunsOnStock {
		t.Skip("the released containerd makes no pods without a pause container")
	}
}

// runWatched runs a pod, and returns it as a plugin received it with RunPodSandbox.
func runWatched(t *testing.T, n *node.Node, config *runtime.PodSandboxConfig) *api.PodSandbox {
	t.Helper()
	p := plugin.New("10", "watches")
	Connect(t, n, p)
	defer p.Crash()
	_, err := n.CRI().RunPod(WithinAMinute(t), config)
	require.NoError(t, err)
	return p.Calls().Named(config.Metadata.Name).Only(plugin.RunPodSandbox)[0].Pod
}

// runIn runs a container in a pod, and returns its process.
func runIn(t *testing.T, n *node.Node, pod string, config *runtime.PodSandboxConfig, name string) (id string, pid int) {
	t.Helper()
	ctx := WithinAMinute(t)
	id, err := n.CRI().Create(ctx, pod, config, n.CRI().Container(name))
	require.NoError(t, err)
	require.NoError(t, n.CRI().Start(ctx, id))
	require.NoError(t, n.Settled(ctx, id))
	return id, processOf(ctx, t, n, id)
}

func processOf(ctx context.Context, t *testing.T, n *node.Node, container string) int {
	t.Helper()
	pid, err := n.CRI().PID(ctx, container)
	require.NoError(t, err)
	return pid
}

// paths are those of a pod's namespaces, by their type.
func paths(pod *api.PodSandbox) map[string]string {
	found := map[string]string{}
	for _, namespace := range pod.GetLinux().GetNamespaces() {
		found[namespace.GetType()] = namespace.GetPath()
	}
	return found
}

// namespaceOf identifies a namespace of a process, by its name in /proc.
func namespaceOf(t *testing.T, pid int, name string) string {
	t.Helper()
	id, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, name))
	require.NoError(t, err)
	return id
}

// inside reads a file below /proc/sys in one of the namespaces.
func inside(t *testing.T, n *node.Node, namespace, name string) string {
	t.Helper()
	value, err := n.Sysctl(namespace, name)
	require.NoError(t, err)
	return value
}

// namespacesExist approves if each namespace of a pod that has a path exists.
func namespacesExist(n *node.Node) plugin.Reply {
	return func(_ context.Context, call *plugin.Call) error {
		for kind, path := range paths(call.Pod) {
			if err := n.Inside(path, func() error { return nil }); err != nil {
				return fmt.Errorf("the %s namespace in %s: %w", kind, call.Event, err)
			}
		}
		return nil
	}
}

// mountsOf are the mounts at paths that a process sees.
func mountsOf(t *testing.T, pid int, paths ...string) []*mountinfo.Info {
	t.Helper()
	file, err := os.Open(fmt.Sprintf("/proc/%d/mountinfo", pid))
	require.NoError(t, err)
	defer func() { _ = file.Close() }() // it was only read
	mounts, err := mountinfo.GetMountsFromReader(file, nil)
	require.NoError(t, err)
	mounts = slices.DeleteFunc(mounts, func(m *mountinfo.Info) bool { return !slices.Contains(paths, m.Mountpoint) })
	require.Len(t, mounts, len(paths))
	return mounts
}
