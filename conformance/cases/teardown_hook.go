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

// StopPodSandbox comes when the containers have stopped, and the sandbox has not.
var _ = Teardown.has("L10_PodIsThereInItsStopHook", Patient, func(t T) {
	n := t.Runtime()
	ctx, c := WithinAMinute(t), n.CRI()
	p := NewPlugin(t, "10", "looks")
	var containers, sandbox, network error
	var namespace string
	p.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) error {
		namespace = seenNetwork(call.Pod)
		return nil
	})
	p.On(plugin.StopPodSandbox, func(_ context.Context, call *plugin.Call) error {
		containers, sandbox = noneRuns(ctx, c.Runtime), isThere(p.Calls().Of(call.Pod.GetId()).Only(plugin.RunPodSandbox))
		if namespace != "" {
			network = isNamespace(namespace)
		}
		return nil
	})
	Connect(t, n, p)
	l := NewLife(t, n, "stopped")
	require.NoError(t, c.StopPod(ctx, l.Pod))
	t.Promise("L10", "no container runs when plugins are told of the stop of its pod", KeptOnStock, func(t require.TestingT) { assert.NoError(t, containers) })
	t.Promise("L10", "the process of the sandbox does", OnStock("it is gone"), func(t require.TestingT) { assert.NoError(t, sandbox) })
	t.Promise("L10", "its network namespace stands", KeptOnStock, func(t require.TestingT) { assert.NoError(t, network) })
	require.NoError(t, c.RemovePod(ctx, l.Pod))
	RequireNothingLeft(t, n)
})

// seenNetwork is the path of a pod's network namespace, where plugins were told of one that can
// be seen from here.
func seenNetwork(pod *api.PodSandbox) string {
	for _, namespace := range pod.GetLinux().GetNamespaces() {
		if namespace.GetType() == "network" && isNamespace(namespace.GetPath()) == nil {
			return namespace.GetPath()
		}
	}
	return ""
}

// isNamespace says that there is no namespace at a path. One that was unmounted leaves a file.
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

// noneRuns says which container runs.
func noneRuns(ctx context.Context, c runtime.RuntimeServiceClient) error {
	all, err := c.ListContainers(ctx, &runtime.ListContainersRequest{})
	for _, one := range all.GetContainers() {
		if one.GetState() == runtime.ContainerState_CONTAINER_RUNNING {
			err = errors.Join(err, fmt.Errorf("container %s runs", one.GetId()))
		}
	}
	return err
}

// isThere says that there is no process of a pod's sandbox, where plugins were told of one. Its
// IPC and UTS namespaces and its cgroup stand as long as it runs. One that exited and was
// not reaped is no longer in any namespace.
func isThere(received plugin.Calls) error {
	if len(received) == 0 || received[0].Pod.GetPid() == 0 {
		return nil
	}
	if _, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/ipc", received[0].Pod.GetPid())); err != nil {
		return fmt.Errorf("process %d of the sandbox: %w", received[0].Pod.GetPid(), err)
	}
	return nil
}
