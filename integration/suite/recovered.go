// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// PassedOverMetric is the metric of what was not recovered at start.
const PassedOverMetric = "containerd_cri_recovery_passed_over_total"

// RequireReady checks that pods are ready, in the list and by their status.
func RequireReady(ctx context.Context, t require.TestingT, n Runtime, pods ...string) {
	listed, err := n.CRI().Pods(ctx)
	require.NoError(t, err)
	states := map[string]runtime.PodSandboxState{}
	for _, pod := range listed {
		states[pod.GetId()] = pod.GetState()
	}
	for _, pod := range pods {
		require.Contains(t, states, pod)
		require.Equal(t, runtime.PodSandboxState_SANDBOX_READY, states[pod], "in the list")
		r, err := n.CRI().Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
		require.NoError(t, err)
		require.Equal(t, runtime.PodSandboxState_SANDBOX_READY, r.GetStatus().GetState())
	}
}

// RunningSince is when a container that runs was started.
func RunningSince(ctx context.Context, t require.TestingT, n Runtime, container string) int64 {
	r, err := n.CRI().Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: container})
	require.NoError(t, err)
	require.Equal(t, runtime.ContainerState_CONTAINER_RUNNING, r.GetStatus().GetState())
	return r.GetStatus().GetStartedAt()
}
