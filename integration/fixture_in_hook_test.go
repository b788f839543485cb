// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// inHook is a pod of which a plugin holds the hook.
type inHook struct {
	config *runtime.PodSandboxConfig
	id     string
	pid    int // of its sandbox
	ran    <-chan error
	gate   *plugin.Gate
}

// newInHook begins to create a pod, and returns when a plugin holds its hook.
func newInHook(t *testing.T, n target, p *plugin.Plugin, name string) inHook {
	t.Helper()
	pod := inHook{config: n.CRI().Pod(name), gate: newGate(t)}
	p.On(plugin.RunPodSandbox, pod.gate.Hold)
	ctx := withinAMinute(t)
	pod.ran = inBackground(func() error {
		_, err := n.CRI().RunPod(ctx, pod.config)
		return err
	})
	requireClosed(t, pod.gate.Entered(), "the hook")
	call := p.Calls().Named(name).Only(plugin.RunPodSandbox)[0]
	pod.id, pod.pid = call.Pod.GetId(), int(call.Pod.GetPid())
	return pod
}

// callsThatShow lists by which calls CRI shows a pod.
func callsThatShow(ctx context.Context, t require.TestingT, n target, pod string) (by []string) {
	c := n.CRI().Runtime
	pods, err := c.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{})
	require.NoError(t, err)
	for _, p := range pods.GetItems() {
		if p.GetId() == pod {
			by = append(by, "ListPodSandbox")
		}
	}
	stats, err := c.ListPodSandboxStats(ctx, &runtime.ListPodSandboxStatsRequest{})
	require.NoError(t, err)
	for _, s := range stats.GetStats() {
		if s.GetAttributes().GetId() == pod {
			by = append(by, "ListPodSandboxStats")
		}
	}
	_, errStatus := c.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
	_, errStats := c.PodSandboxStats(ctx, &runtime.PodSandboxStatsRequest{PodSandboxId: pod})
	for call, err := range map[string]error{"PodSandboxStatus": errStatus, "PodSandboxStats": errStats} {
		if status.Code(err) != codes.NotFound { // of a pod that is not ready there are no statistics
			by = append(by, call)
		}
	}
	return by
}
