// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/integration/cri"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// requirePodNotReady waits until CRI says that a pod's sandbox has died.
func requirePodNotReady(ctx context.Context, t *testing.T, n target, pod string) {
	t.Helper()
	requireSoon(t, "pod "+pod+" to be not ready", func(context.Context) error {
		r, err := n.CRI().Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
		if err == nil && r.GetStatus().GetState() != runtime.PodSandboxState_SANDBOX_NOTREADY {
			err = fmt.Errorf("it is %s", r.GetStatus().GetState())
		}
		return err
	})
}

// killSandbox kills the process of a pod's sandbox.
func killSandbox(t *testing.T, p *plugin.Plugin, pod string) {
	t.Helper()
	run := p.Calls().Of(pod).Only(plugin.RunPodSandbox)
	require.Len(t, run, 1)
	require.NoError(t, unix.Kill(int(run[0].Pod.GetPid()), unix.SIGKILL))
}

// requireNoPodReady checks that no pod is shown as ready.
func requireNoPodReady(ctx context.Context, t require.TestingT, c *cri.Client) {
	pods, err := c.Runtime.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{})
	require.NoError(t, err)
	for _, pod := range pods.GetItems() {
		assert.Equal(t, runtime.PodSandboxState_SANDBOX_NOTREADY, pod.GetState(), "%s in the list", pod.GetMetadata().GetName())
		r, err := c.Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod.GetId()})
		require.NoError(t, err)
		assert.Equal(t, runtime.PodSandboxState_SANDBOX_NOTREADY, r.GetStatus().GetState(), "status of %s", pod.GetMetadata().GetName())
	}
}

// removeAllPods stops and removes all pods, as the kubelet does with those that it
// does not want.
func removeAllPods(ctx context.Context, t require.TestingT, c *cri.Client) {
	pods, err := c.Runtime.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{})
	require.NoError(t, err)
	for _, pod := range pods.GetItems() {
		name := fmt.Sprintf("%s: %s", pod.GetId(), pod.GetMetadata().GetName())
		assert.NoError(t, c.StopPod(ctx, pod.GetId()), name)
		assert.NoError(t, c.RemovePod(ctx, pod.GetId()), name)
	}
}
