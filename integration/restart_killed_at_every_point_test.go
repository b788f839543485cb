// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hookline-nri/hookline/integration/cri"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Wherever a creation is when the runtime is killed, the kubelet finds the pod
// not ready or not at all, and what it can remove is all that there is.
func TestL15_KilledAtEveryPoint(t *testing.T) {
	for _, w := range waves {
		t.Run(w.name, w.killed)
	}
}

func (w wave) killed(t *testing.T) {
	c := newCreations(t, w)
	connect(t, c.n, c.plugins["first"], c.plugins["second"])
	holds(t, "L15", w.breaks.killed, func(t require.TestingT) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		c.requireHeld(ctx, t)
		require.NoError(t, c.n.Kill(ctx))
		for _, held := range c.held {
			assert.Error(t, <-held.ran, held.pod())
		}
		c.release(t)
		require.NoError(t, c.n.Quiet(ctx))
		require.NoError(t, c.n.Boot(ctx))
		for _, p := range c.plugins {
			require.NoError(t, p.Connect(ctx, c.n.NRISocket()))
		}
		requireNoPodReady(ctx, t, c.n.CRI())
		removeAllPods(ctx, t, c.n.CRI())
		requireNothingLeft(t, c.n)
		c.requireEndsTold(t)
		c.requireRunAgain(t)
		requireNothingLeft(t, c.n)
	})
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
