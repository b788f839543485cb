// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

const notCounted = "it is not counted"

// Pods whose creation waits are counted, with the age of the oldest.
func TestL17_PodsBeingCreatedAreCounted(t *testing.T) {
	t.Parallel()
	n := startNode(t, withNeeds(fixture.Patient))
	p := plugin.New("10", "holds")
	connect(t, n, p)
	began := time.Now()
	pod := newInHook(t, n, p, "held")
	promise(t, "L17", "pods being created are counted", onStock(notCounted), func(t require.TestingT) {
		requireMetric(t, n, "containerd_cri_sandboxes_being_created", "", 1)
	})
	promise(t, "L17", "the age of the oldest creation is told", onStock("it is not told"), func(t require.TestingT) {
		age, err := n.Metrics(context.Background(), "containerd_cri_sandboxes_being_created_oldest_seconds")
		require.NoError(t, err)
		assert.Positive(t, age[""])
		assert.LessOrEqual(t, age[""], time.Since(began).Seconds())
	})
	pod.Gate.Release()
	require.NoError(t, <-pod.Ran)
	promise(t, "L17", "none is counted any more when it is ready", onStock(notCounted), func(t require.TestingT) {
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
			pod := newInHook(t, n, p, "doomed")
			stopped := inBackground(func() error { return n.CRI().StopPod(context.Background(), pod.ID) })
			requireCancelled(t, pod, n, p)
			<-pod.Ran
			<-stopped
		},
		"removed": func(t *testing.T, n *node.Node, p *plugin.Plugin) {
			pod := newInHook(t, n, p, "doomed")
			removed := inBackground(func() error { return n.CRI().RemovePod(context.Background(), pod.ID) })
			requireCancelled(t, pod, n, p)
			<-pod.Ran
			<-removed
		},
		"exited": func(t *testing.T, n *node.Node, p *plugin.Plugin) {
			pod := newInHook(t, n, p, "doomed")
			require.NoError(t, unix.Kill(pod.PID, unix.SIGKILL))
			requireCancelled(t, pod, n, p)
			<-pod.Ran
		},
		"caller_gone": func(t *testing.T, n *node.Node, p *plugin.Plugin) {
			gate := newGate(t)
			p.On(plugin.RunPodSandbox, gate.Hold)
			ctx, cancel := context.WithCancel(withinAMinute(t))
			ran := inBackground(func() error { _, err := n.CRI().RunPod(ctx, n.CRI().Pod("doomed")); return err })
			requireClosed(t, gate.Entered(), "the hook")
			cancel()
			require.Error(t, <-ran)
			requireCancelled(t, inHook{Gate: gate}, n, p)
		},
		"plugin": func(t *testing.T, n *node.Node, p *plugin.Plugin) {
			p.On(plugin.RunPodSandbox, plugin.Fail("not today"))
			_, err := n.CRI().RunPod(withinAMinute(t), n.CRI().Pod("doomed"))
			require.Error(t, err)
		},
		"failed": func(t *testing.T, n *node.Node, p *plugin.Plugin) {
			config := n.CRI().Pod("doomed")
			config.Linux.CgroupParent = "\x00"
			_, err := n.CRI().RunPod(withinAMinute(t), config)
			require.Error(t, err)
		},
	} {
		t.Run(reason, func(t *testing.T) {
			n := startNode(t, withNeeds(fixture.Patient))
			p := plugin.New("10", "first")
			connect(t, n, p)
			end(t, n, p)
			promise(t, "L17", "a creation that ended early is counted by its reason: "+reason, onStock(notCounted), func(t require.TestingT) {
				requireMetric(t, n, "containerd_cri_sandbox_creations_ended_total", fmt.Sprintf("{reason=%q}", reason), 1)
				all, err := n.Metrics(context.Background(), "containerd_cri_sandbox_creations_ended_total")
				require.NoError(t, err)
				assert.Len(t, all, 1)
				left, err := n.Metrics(context.Background(), "containerd_cri_sandbox_creations_left_total")
				require.NoError(t, err)
				assert.Equal(t, map[string]float64{"": 0}, left, "nothing is left of it")
			})
		})
	}
}

// requireCancelled waits until the creation is cancelled, and lets the plugin answer.
func requireCancelled(t *testing.T, pod inHook, n *node.Node, p *plugin.Plugin) {
	t.Helper()
	if !runsOnStock { // which goes on
		requireWaiting(t, n, p, 1) // the end, behind the hook
	}
	pod.Gate.Release()
}

// A creation is undone, and the plugins of its network do not free it.
func TestL17_RollBacksThatLeaveSomethingAreCounted(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	p := plugin.New("10", "strict")
	p.On(plugin.RunPodSandbox, plugin.Fail("not today"))
	connect(t, a.n, p)
	a.Says("DEL", fixture.Fails)
	_, err := a.TryRunPod(a.n.CRI().Pod("doomed"))
	require.Error(t, err)
	promise(t, "L17", "a roll-back that left something is counted", onStock(notCounted), func(t require.TestingT) {
		requireMetric(t, a.n, "containerd_cri_sandbox_creations_left_total", "", 1)
	})
}

func TestL17_CreationsThatARestartInterruptedAreCounted(t *testing.T) {
	t.Parallel()
	n := startNode(t, withNeeds(fixture.Patient))
	p := plugin.New("10", "holds")
	connect(t, n, p)
	newInHook(t, n, p, "cut")
	require.NoError(t, n.Kill(withinAMinute(t)))
	require.NoError(t, n.Boot(withinAMinute(t)))
	promise(t, "L17", "a creation that a restart interrupted is counted", onStock(notCounted), func(t require.TestingT) {
		requireMetric(t, n, "containerd_cri_sandbox_creations_interrupted_total", "", 1)
	})
}

// The timer of a sandbox's stop is that of the sandbox. Hooks have one of their own.
func TestL17_TimeOfHooksIsNotInThatOfTheStop(t *testing.T) {
	t.Parallel()
	const slow = 4 * time.Second
	n := startNode(t, withNeeds(fixture.Patient))
	p := plugin.New("10", "slow")
	p.On(plugin.StopPodSandbox, plugin.Delay(slow))
	p.On(plugin.StopContainer, plugin.Delay(slow))
	p.On(plugin.RunPodSandbox, plugin.Delay(slow))
	connect(t, n, p)
	l := newLife(t, n, "short")
	require.NoError(t, n.CRI().StopPod(withinAMinute(t), l.Pod)) // with its container
	require.NoError(t, n.CRI().RemovePod(withinAMinute(t), l.Pod))
	promise(t, "L17", "the timer of the stop has no hook in it", keptOnStock, func(t require.TestingT) {
		took, err := n.Metrics(context.Background(), "containerd_cri_sandbox_runtime_stop_seconds_sum")
		require.NoError(t, err)
		require.NotEmpty(t, took)
		for _, sum := range took {
			assert.Less(t, sum, slow.Seconds())
		}
	})
	promise(t, "L17", "hooks have a timer of their own", onStock("they have none"), func(t require.TestingT) {
		took, err := n.Metrics(context.Background(), "containerd_cri_sandbox_hook_seconds_sum")
		require.NoError(t, err)
		for _, operation := range []string{"RunPodSandbox", "StopPodSandbox"} {
			assert.GreaterOrEqual(t, took[fmt.Sprintf("{operation=%q}", operation)], slow.Seconds(), took)
		}
	})
}
