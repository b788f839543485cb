// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// What a pod's creation waited for is in its trace: the network, the sandbox, and each
// plugin, with the wait for it apart from the time in it.
func TestL17_TraceTellsWhereTheTimeOfAPodGoes(t *testing.T) {
	t.Parallel()
	n := startNode(t, traced, withNeeds(fixture.Patient))
	traces := receiveTraces(t, n)
	slow, quick := plugin.New("10", "slow"), plugin.New("20", "quick")
	connect(t, n, slow, quick)
	ctx, c := withinAMinute(t), n.CRI()
	requirePodRunsAgain(t, n, c.Pod("before")) // from here on both take part, and are waited for no more
	gate, next := newGate(t), newGate(t)
	slow.On(plugin.RunPodSandbox, gate.Hold)

	// The second pod waits for the plugin, which is at the first. A span says when the wait began
	// a little late, as it is made afterwards: the wait has begun long since once a third pod, which
	// is created after that, waits as well.
	second := c.Pod("second")
	var before, pod string
	ranFirst := inBackground(func() (err error) { before, err = c.RunPod(ctx, c.Pod("first")); return err })
	requireClosed(t, gate.Entered(), "the hook of the slow plugin")
	ranSecond := inBackground(func() (err error) { pod, err = c.RunPod(ctx, second); return err })
	if !runsOnStock { // which does not tell
		requireWaiting(t, n, slow, 1)
	}
	ranThird := inBackground(func() error { _, err := c.RunPod(ctx, c.Pod("third")); return err })
	if !runsOnStock {
		requireWaiting(t, n, slow, 2)
	}
	waiting := time.Now()
	// The second gets to the quick plugin when the first is through with it, and has not waited.
	slow.On(plugin.RunPodSandbox, next.Hold)
	gate.Release()
	require.NoError(t, <-ranFirst)
	next.Release()
	require.NoError(t, <-ranSecond)
	require.NoError(t, <-ranThird)

	promise(t, "L17", "the steps of RunPodSandbox are spans below it", onStock("the controller and the namespace have none"), func(t require.TestingT) {
		run := requireTree(t, traces, "RunPodSandbox", pod).child("cri.sandbox.run", nil)
		require.NotNil(t, run)
		for _, step := range []string{"cri.sandbox.netns", "cni.setup_pod_network", "cri.sandbox.create", "cri.sandbox.start", "nri.RunPodSandbox"} {
			assert.NotNil(t, run.child(step, nil), "no span %s in\n%s", step, run)
		}
	})
	promise(t, "L17", "each ADD of a plugin is a span below that of go-cni", onStock("plugins have none"), func(t require.TestingT) {
		setup := requireTree(t, traces, "RunPodSandbox", pod).find("cni.Setup", map[string]string{"cni.id": pod})
		require.NotNil(t, setup)
		assert.NotNil(t, setup.find("cni.ADD", map[string]string{"cni.plugin": "ptp", "cni.name": "hookline", "cni.ifname": "eth0", "cni.id": pod}), setup)
	})
	promise(t, "L17", "the wait for each plugin is apart from the time in it, with plugin, pod, event and outcome", onStock("there is no such span"), func(t require.TestingT) {
		hook := requireTree(t, traces, "RunPodSandbox", pod).find("nri.RunPodSandbox", nil)
		require.NotNil(t, hook)
		of := func(plugin string) map[string]string {
			return map[string]string{"nri.plugin": plugin, "nri.event": "RunPodSandbox", "nri.outcome": "answered", "sandbox.id": pod, "pod.uid": second.GetMetadata().GetUid()}
		}
		wait, in := hook.child("nri.wait", of("10-slow")), hook.child("nri.plugin", of("10-slow"))
		require.NotNil(t, wait, hook)
		require.NotNil(t, in, hook)
		assert.True(t, wait.Began.Before(waiting), hook)
		assert.False(t, in.Began.Before(waiting), hook)
		assert.Equal(t, in.Began, wait.Began.Add(wait.Took), hook)
		assert.NotNil(t, hook.child("nri.plugin", of("20-quick")), hook)
		first := requireTree(t, traces, "RunPodSandbox", before).find("nri.RunPodSandbox", nil)
		require.NotNil(t, first)
		assert.Nil(t, first.child("nri.wait", nil), "it waited for nobody\n%s", first)
	})

	require.NoError(t, c.StopPod(ctx, pod))
	promise(t, "L17", "the stop has spans of plugins, of the controller and of each DEL", onStock("it has that of go-cni alone"), func(t require.TestingT) {
		stop := requireTree(t, traces, "StopPodSandbox", pod)
		hook := stop.find("nri.StopPodSandbox", nil)
		require.NotNil(t, hook, stop)
		for _, plugin := range []string{"10-slow", "20-quick"} {
			assert.NotNil(t, hook.child("nri.plugin", map[string]string{"nri.plugin": plugin, "nri.event": "StopPodSandbox", "nri.outcome": "answered"}), hook)
		}
		assert.NotNil(t, stop.find("cri.sandbox.stop", nil), stop)
		remove := stop.find("cni.Remove", map[string]string{"cni.id": pod})
		require.NotNil(t, remove, stop)
		assert.NotNil(t, remove.child("cni.DEL", map[string]string{"cni.plugin": "ptp", "cni.ifname": "eth0"}), stop)
	})
}

// STATUS is part of the trace of the call that had it run.
func TestL17_StatusIsTraced(t *testing.T) {
	t.Parallel()
	n := startNode(t, traced, withAgent())
	traces := receiveTraces(t, n)
	promise(t, "L17", "STATUS is a span", onStock("it has none"), func(t require.TestingT) {
		requireSoon(t, "a STATUS below a call of Status", func(ctx context.Context) error {
			if _, err := n.CRI().Runtime.Status(ctx, &runtime.StatusRequest{}); err != nil {
				return err
			}
			status, err := trees(traces, "Status")
			for _, call := range status {
				if call.find("cni.STATUS", map[string]string{"cni.plugin": "ptp", "cni.name": "hookline"}) != nil {
					return err
				}
			}
			return errors.Join(err, fmt.Errorf("%d calls without", len(status)))
		})
	})
}

// A plugin refuses a pod, and the trace names it.
func TestL17_TraceNamesThePluginThatRefused(t *testing.T) {
	t.Parallel()
	n := startNode(t, traced)
	traces := receiveTraces(t, n)
	p := plugin.New("10", "strict")
	p.On(plugin.RunPodSandbox, plugin.Fail("not today"))
	connect(t, n, p)
	config := n.CRI().Pod("refused")
	_, err := n.CRI().RunPod(withinAMinute(t), config)
	require.Error(t, err)
	promise(t, "L17", "the span of a plugin that refused says so", onStock("there is none"), func(t require.TestingT) {
		run := requireTree(t, traces, "RunPodSandbox", config.GetMetadata().GetUid())
		refusal := run.find("nri.plugin", map[string]string{"nri.plugin": "10-strict", "nri.outcome": "refused"})
		require.NotNil(t, refusal, run)
		assert.Contains(t, refusal.Failure, "not today")
	})
}
