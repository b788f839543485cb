// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// servesOrIsReplaced fails if a kubelet can neither use a pod nor know that it must replace it. It
// starts containers in a Ready pod.
func servesOrIsReplaced(ctx context.Context, n *node.Node, config *runtime.PodSandboxConfig, pod string) error {
	c := n.CRI()
	r, err := c.Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
	if err != nil {
		return err
	}
	listed, err := c.Runtime.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{Filter: &runtime.PodSandboxFilter{Id: pod}})
	if err != nil || len(listed.GetItems()) != 1 {
		return fmt.Errorf("list pod %s: %v: %w", pod, listed.GetItems(), err)
	}
	state := r.GetStatus().GetState()
	if in := listed.GetItems()[0].GetState(); in != state {
		return fmt.Errorf("the pod is %s in its status, and %s in the list", state, in)
	}
	if state == runtime.PodSandboxState_SANDBOX_NOTREADY {
		return nil
	}
	id, err := c.Create(ctx, pod, config, c.Container("next"))
	if err != nil {
		return fmt.Errorf("the pod is %s: %w", state, err)
	}
	return c.Start(ctx, id)
}

// A client cancels the stop of a pod, as crictl does after two seconds, while the stop waits for a
// container or for a plugin. The kubelet wants the pod to run.
func TestL11_PodWhoseStopWasCanceledCanBeUsed(t *testing.T) {
	t.Parallel()
	t.Run("at a container", func(t *testing.T) {
		n := StartNode(t, WithoutNRI)
		ctx, c := WithinAMinute(t), n.CRI()
		config := c.Pod("abandoned")
		l := NewLifeOf(t, n, config)
		kill, err := n.HoldAt(node.Before("runc", "kill"), "abandoned")
		require.NoError(t, err)
		calling, cancel := context.WithCancel(ctx)
		stopped := InBackground(func() error { return c.StopPod(calling, l.Pod) })
		require.NoError(t, kill.Entered(ctx))
		cancel()
		require.Error(t, <-stopped)
		require.NoError(t, kill.Release())
		requireSoonExited(ctx, t, l)
		endsInUse(ctx, t, n, config, l.Pod)
	})
	t.Run("at a plugin", func(t *testing.T) {
		n := StartNode(t, WithNeeds(Patient))
		ctx, c := WithinAMinute(t), n.CRI()
		slow, gate := plugin.New("10", "slow"), NewGate(t)
		slow.On(plugin.StopPodSandbox, gate.Hold)
		Connect(t, n, slow)
		config := c.Pod("abandoned")
		l := NewLifeOf(t, n, config)
		calling, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		stopped := InBackground(func() error { return c.StopPod(calling, l.Pod) })
		RequireClosed(t, gate.Entered(), "StopPodSandbox")
		require.Error(t, <-stopped)
		gate.Release()
		endsInUse(ctx, t, n, config, l.Pod)
	})
}

func requireSoonExited(ctx context.Context, t *testing.T, l Life) {
	t.Helper()
	RequireSoon(t, "the exit", func(context.Context) error {
		if state := StateOfContainer(ctx, t, l); state != runtime.ContainerState_CONTAINER_EXITED {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	})
}

func endsInUse(ctx context.Context, t *testing.T, n *node.Node, config *runtime.PodSandboxConfig, pod string) {
	t.Helper()
	moments := WithinMoments(t)
	err := wait.Until(moments, "the pod to be usable", func(context.Context) error { return servesOrIsReplaced(ctx, n, config, pod) })
	Promise(t, "L11", "a kubelet can use a pod whose stop was canceled, or replaces it", KeptOnStock, func(t require.TestingT) {
		assert.NoError(t, err)
	})
	require.NoError(t, n.CRI().StopPod(ctx, pod))
	require.NoError(t, n.CRI().RemovePod(ctx, pod))
	RequireNothingLeft(t, n)
}
