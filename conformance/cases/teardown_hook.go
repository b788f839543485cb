// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Plugins receive StopPodSandbox after the containers have stopped, and before the sandbox has.
var _ = Teardown.has("L10_PodIsIntactInItsStopHook", Patient, func(t T) {
	n := t.Runtime()
	ctx, c := WithinAMinute(t), n.CRI()
	p := NewPlugin(t, "10", "looks")
	var containers, sandbox, named error
	var namespaces []string
	p.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) error {
		namespaces = seenNamespaces(call.Pod)
		return nil
	})
	p.On(plugin.StopPodSandbox, func(_ context.Context, call *plugin.Call) error {
		containers, sandbox = noneRuns(ctx, c.Runtime), sandboxRuns(p.Calls().Of(call.Pod.GetId()).Only(plugin.RunPodSandbox))
		for _, namespace := range namespaces {
			named = errors.Join(named, isNamespace(namespace))
		}
		return nil
	})
	Connect(t, n, p)
	l := NewLife(t, n, "stopped")
	require.NoError(t, c.StopPod(ctx, l.Pod))
	t.Promise("L10", "no container runs when plugins receive the stop of its pod", KeptOnStock, func(t require.TestingT) { assert.NoError(t, containers) })
	t.Promise("L10", "the process of the sandbox runs", OnStock("it has ended"), func(t require.TestingT) { assert.NoError(t, sandbox) })
	t.Promise("L10", "the namespaces of the pod that have a path exist", KeptOnStock, func(t require.TestingT) { assert.NoError(t, named) })
	require.NoError(t, c.RemovePod(ctx, l.Pod))
	RequireNothingLeft(t, n)
})

// seenNamespaces are the paths of a pod's namespaces that plugins received and this process can
// see.
func seenNamespaces(pod *api.PodSandbox) (paths []string) {
	for _, namespace := range pod.GetLinux().GetNamespaces() {
		if isNamespace(namespace.GetPath()) == nil {
			paths = append(paths, namespace.GetPath())
		}
	}
	return paths
}

// isNamespace returns an error if no namespace is at a path. An unmounted one leaves a file.
func isNamespace(path string) error {
	var at unix.Statfs_t
	if err := unix.Statfs(path, &at); err != nil {
		return fmt.Errorf("namespace %s: %w", path, err)
	}
	if at.Type != unix.NSFS_MAGIC {
		return fmt.Errorf("namespace %s is not mounted any more", path)
	}
	return nil
}

// noneRuns returns an error that names the containers that run.
func noneRuns(ctx context.Context, c runtime.RuntimeServiceClient) error {
	all, err := c.ListContainers(ctx, &runtime.ListContainersRequest{})
	for _, one := range all.GetContainers() {
		if one.GetState() == runtime.ContainerState_CONTAINER_RUNNING {
			err = errors.Join(err, fmt.Errorf("container %s runs", one.GetId()))
		}
	}
	return err
}

// sandboxRuns returns an error if the process of a pod's sandbox has ended, where plugins
// received one. Its IPC and UTS namespaces and its cgroup exist as long as it runs. A process
// that exited and was not reaped is no longer in any namespace.
func sandboxRuns(received plugin.Calls) error {
	if len(received) == 0 || received[0].Pod.GetPid() == 0 {
		return nil
	}
	if _, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/ipc", received[0].Pod.GetPid())); err != nil {
		return fmt.Errorf("process %d of the sandbox: %w", received[0].Pod.GetPid(), err)
	}
	return nil
}
