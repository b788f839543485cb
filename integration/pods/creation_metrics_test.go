// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

const notCounted = "it is not counted"

// Pods that are being created are counted, with the age of the oldest.
func TestL17_PodsBeingCreatedAreCounted(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithNeeds(Patient))
	p := plugin.New("10", "holds")
	Connect(t, n, p)
	began := time.Now()
	pod := NewInHook(t, n, p, "held")
	Promise(t, "L17", "pods being created are counted", OnStock(notCounted), func(t require.TestingT) {
		RequireMetric(t, n, "containerd_cri_sandboxes_being_created", "", 1)
	})
	Promise(t, "L17", "the age of the oldest creation is a metric", OnStock("it has no such metric"), func(t require.TestingT) {
		age, err := n.Metrics(context.Background(), "containerd_cri_sandboxes_being_created_oldest_seconds")
		require.NoError(t, err)
		assert.Positive(t, age[""])
		assert.LessOrEqual(t, age[""], time.Since(began).Seconds())
	})
	pod.Gate.Release()
	require.NoError(t, <-pod.Ran)
	Promise(t, "L17", "a Ready pod is no longer counted", OnStock(notCounted), func(t require.TestingT) {
		values, err := n.Metrics(context.Background(), "containerd_cri_sandboxes_being_created")
		require.NoError(t, err)
		assert.Equal(t, map[string]float64{"": 0}, values)
	})
}

// Each creation that ends early is counted once, by its reason.
func TestL17_CreationsThatEndEarlyAreCountedByReason(t *testing.T) {
	t.Parallel()
	for reason, end := range map[string]func(t *testing.T, n *node.Node, p *plugin.Plugin){
		"stopped": func(t *testing.T, n *node.Node, p *plugin.Plugin) {
			pod := NewInHook(t, n, p, "aborted")
			stopped := InBackground(func() error { return n.CRI().StopPod(context.Background(), pod.ID) })
			requireCanceled(t, pod, n, p)
			<-pod.Ran
			<-stopped
		},
		"removed": func(t *testing.T, n *node.Node, p *plugin.Plugin) {
			pod := NewInHook(t, n, p, "aborted")
			removed := InBackground(func() error { return n.CRI().RemovePod(context.Background(), pod.ID) })
			requireCanceled(t, pod, n, p)
			<-pod.Ran
			<-removed
		},
		"exited": func(t *testing.T, n *node.Node, p *plugin.Plugin) {
			pod := NewInHook(t, n, p, "aborted")
			require.NoError(t, KillProcess(pod.PID))
			requireCanceled(t, pod, n, p)
			<-pod.Ran
		},
		"caller_gone": func(t *testing.T, n *node.Node, p *plugin.Plugin) {
			ctx, leave := context.WithCancel(WithinAMinute(t))
			pod := NewInHookOf(ctx, t, n, p, "aborted")
			leave()
			require.Error(t, <-pod.Ran)
			requireCanceled(t, pod, n, p)
		},
		"plugin": func(t *testing.T, n *node.Node, p *plugin.Plugin) {
			p.On(plugin.RunPodSandbox, plugin.Fail("not today"))
			_, err := n.CRI().RunPod(WithinAMinute(t), n.CRI().Pod("aborted"))
			require.Error(t, err)
		},
		"failed": func(t *testing.T, n *node.Node, p *plugin.Plugin) {
			config := n.CRI().Pod("aborted")
			config.Linux.CgroupParent = "\x00"
			_, err := n.CRI().RunPod(WithinAMinute(t), config)
			require.Error(t, err)
		},
	} {
		t.Run(reason, func(t *testing.T) {
			n := StartNode(t, WithNeeds(Patient))
			p := plugin.New("10", "first")
			Connect(t, n, p)
			end(t, n, p)
			Promise(t, "L17", "a creation that ended early is counted by its reason: "+reason, OnStock(notCounted), func(t require.TestingT) {
				RequireMetric(t, n, "containerd_cri_sandbox_creations_ended_total", fmt.Sprintf("{reason=%q}", reason), 1)
				all, err := n.Metrics(context.Background(), "containerd_cri_sandbox_creations_ended_total")
				require.NoError(t, err)
				assert.Len(t, all, 1)
				left, err := n.Metrics(context.Background(), "containerd_cri_sandbox_creations_left_total")
				require.NoError(t, err)
				assert.Equal(t, map[string]float64{"": 0}, left, "nothing is left of the pod")
			})
		})
	}
}

// requireCanceled waits until the creation is canceled, and lets the plugin answer.
func requireCanceled(t *testing.T, pod InHook, n *node.Node, p *plugin.Plugin) {
	t.Helper()
	if !RunsOnStock { // on stock the creation goes on
		RequireWaiting(t, n, p, 1) // the end, behind the hook
	}
	pod.Gate.Release()
}

// A creation is undone, and the plugins of its network fail to free it.
func TestL17_RollBacksThatLeaveSomethingAreCounted(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	p := plugin.New("10", "strict")
	p.On(plugin.RunPodSandbox, plugin.Fail("not today"))
	Connect(t, a.N, p)
	a.Says("DEL", Fails)
	_, err := a.TryRunPod(a.N.CRI().Pod("aborted"))
	require.Error(t, err)
	Promise(t, "L17", "a roll-back that left something is counted", OnStock(notCounted), func(t require.TestingT) {
		RequireMetric(t, a.N, "containerd_cri_sandbox_creations_left_total", "", 1)
	})
}

func TestL17_CreationsThatARestartInterruptedAreCounted(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithNeeds(Patient))
	p := plugin.New("10", "holds")
	Connect(t, n, p)
	NewInHook(t, n, p, "cut")
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	Promise(t, "L17", "a creation that a restart interrupted is counted", OnStock(notCounted), func(t require.TestingT) {
		RequireMetric(t, n, "containerd_cri_sandbox_creations_interrupted_total", "", 1)
	})
}

// The timer of a sandbox's stop measures the sandbox alone. Hooks have a timer of their own.
func TestL17_TimeOfHooksIsNotInThatOfTheStop(t *testing.T) {
	t.Parallel()
	const slow = 4 * time.Second
	n := StartNode(t, WithNeeds(Patient))
	p := plugin.New("10", "slow")
	p.On(plugin.StopPodSandbox, plugin.Delay(slow))
	p.On(plugin.StopContainer, plugin.Delay(slow))
	p.On(plugin.RunPodSandbox, plugin.Delay(slow))
	Connect(t, n, p)
	l := NewLife(t, n, "short")
	require.NoError(t, n.CRI().StopPod(WithinAMinute(t), l.Pod)) // with its container
	require.NoError(t, n.CRI().RemovePod(WithinAMinute(t), l.Pod))
	Promise(t, "L17", "the timer of the stop does not include hooks", KeptOnStock, func(t require.TestingT) {
		took, err := n.Metrics(context.Background(), "containerd_cri_sandbox_runtime_stop_seconds_sum")
		require.NoError(t, err)
		require.NotEmpty(t, took)
		for _, sum := range took {
			assert.Less(t, sum, slow.Seconds())
		}
	})
	Promise(t, "L17", "hooks have a timer of their own", OnStock("they have none"), func(t require.TestingT) {
		took, err := n.Metrics(context.Background(), "containerd_cri_sandbox_hook_seconds_sum")
		require.NoError(t, err)
		for _, operation := range []string{"RunPodSandbox", "StopPodSandbox"} {
			assert.GreaterOrEqual(t, took[fmt.Sprintf("{operation=%q}", operation)], slow.Seconds(), took)
		}
	})
}
