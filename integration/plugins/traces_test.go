// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The trace of a pod's creation shows its waits: for the network, the sandbox, and each plugin,
// with the wait for a plugin apart from the time in it.
func TestL17_TraceShowsWhereTheTimeOfAPodGoes(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithTraces, WithNeeds(Patient))
	traces := ReceiveTraces(t, n)
	slow, quick := plugin.New("10", "slow"), plugin.New("20", "quick")
	Connect(t, n, slow, quick)
	ctx, c := WithinAMinute(t), n.CRI()
	RequirePodRunsAgain(t, n, c.Pod("before")) // from now on both plugins have joined

	// The second pod waits for the plugin, which handles the first. The begin of the wait in a span
	// may be a little late, since the span is made afterwards. So the test also waits until a third
	// pod waits, which is created later.
	second := c.Pod("second")
	first := NewInHook(t, n, slow, "first")
	var pod string
	ranSecond := InBackground(func() (err error) { pod, err = c.RunPod(ctx, second); return err })
	if !RunsOnStock { // stock does not show it
		RequireWaiting(t, n, slow, 1)
	}
	ranThird := InBackground(func() error { _, err := c.RunPod(ctx, c.Pod("third")); return err })
	if !RunsOnStock {
		RequireWaiting(t, n, slow, 2)
	}
	waiting := time.Now()
	// The second pod reaches the quick plugin after the first has left it, and does not wait for
	// it.
	next := NewGate(t)
	slow.On(plugin.RunPodSandbox, next.Hold)
	first.Gate.Release()
	require.NoError(t, <-first.Ran)
	next.Release()
	require.NoError(t, <-ranSecond)
	require.NoError(t, <-ranThird)

	Promise(t, "L17", "the steps of RunPodSandbox are spans below it", OnStock("the controller and the namespace have none"), func(t require.TestingT) {
		run := RequireTree(t, traces, "RunPodSandbox", pod).Child("cri.sandbox.run", nil)
		require.NotNil(t, run)
		for _, step := range []string{"cri.sandbox.netns", "cni.setup_pod_network", "cri.sandbox.create", "cri.sandbox.start", "nri.RunPodSandbox"} {
			assert.NotNil(t, run.Child(step, nil), "no span %s in\n%s", step, run)
		}
	})
	Promise(t, "L17", "each ADD of a plugin is a span below that of go-cni", OnStock("plugins have none"), func(t require.TestingT) {
		setup := RequireTree(t, traces, "RunPodSandbox", pod).Find("cni.Setup", map[string]string{"cni.id": pod})
		require.NotNil(t, setup)
		assert.NotNil(t, setup.Find("cni.ADD", map[string]string{"cni.plugin": "ptp", "cni.name": "hookline", "cni.ifname": "eth0", "cni.id": pod}), setup)
	})
	Promise(t, "L17", "the wait for each plugin is apart from the time in it, with plugin, pod, event and outcome", OnStock("it has no such span"), func(t require.TestingT) {
		hook := RequireTree(t, traces, "RunPodSandbox", pod).Find("nri.RunPodSandbox", nil)
		require.NotNil(t, hook)
		of := func(plugin string) map[string]string {
			return map[string]string{"nri.plugin": plugin, "nri.event": "RunPodSandbox", "nri.outcome": "answered", "sandbox.id": pod, "pod.uid": second.GetMetadata().GetUid()}
		}
		wait, in := hook.Child("nri.wait", of("10-slow")), hook.Child("nri.plugin", of("10-slow"))
		require.NotNil(t, wait, hook)
		require.NotNil(t, in, hook)
		assert.True(t, wait.Began.Before(waiting), hook)
		assert.False(t, in.Began.Before(waiting), hook)
		assert.Equal(t, in.Began, wait.Began.Add(wait.Took), hook)
		assert.NotNil(t, hook.Child("nri.plugin", of("20-quick")), hook)
		before := RequireTree(t, traces, "RunPodSandbox", first.ID).Find("nri.RunPodSandbox", nil)
		require.NotNil(t, before)
		assert.Nil(t, before.Child("nri.wait", nil), "it did not wait\n%s", before)
	})

	require.NoError(t, c.StopPod(ctx, pod))
	Promise(t, "L17", "the stop has spans of plugins, of the controller and of each DEL", OnStock("it has only that of go-cni"), func(t require.TestingT) {
		stop := RequireTree(t, traces, "StopPodSandbox", pod)
		hook := stop.Find("nri.StopPodSandbox", nil)
		require.NotNil(t, hook, stop)
		for _, plugin := range []string{"10-slow", "20-quick"} {
			assert.NotNil(t, hook.Child("nri.plugin", map[string]string{"nri.plugin": plugin, "nri.event": "StopPodSandbox", "nri.outcome": "answered"}), hook)
		}
		assert.NotNil(t, stop.Find("cri.sandbox.stop", nil), stop)
		remove := stop.Find("cni.Remove", map[string]string{"cni.id": pod})
		require.NotNil(t, remove, stop)
		assert.NotNil(t, remove.Child("cni.DEL", map[string]string{"cni.plugin": "ptp", "cni.ifname": "eth0"}), stop)
	})
}

// STATUS is in the trace of the call that made it run.
func TestL17_StatusIsTraced(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithTraces, WithAgent())
	traces := ReceiveTraces(t, n)
	Promise(t, "L17", "STATUS is a span", OnStock("it has none"), func(t require.TestingT) {
		RequireSoon(t, "a STATUS below a call of Status", func(ctx context.Context) error {
			if _, err := n.CRI().Runtime.Status(ctx, &runtime.StatusRequest{}); err != nil {
				return err
			}
			status, err := Trees(traces, "Status")
			for _, call := range status {
				if call.Find("cni.STATUS", map[string]string{"cni.plugin": "ptp", "cni.name": "hookline"}) != nil {
					return err
				}
			}
			return errors.Join(err, fmt.Errorf("%d calls without STATUS", len(status)))
		})
	})
}

// A plugin rejects a pod, and the trace names it.
func TestL17_TraceNamesThePluginThatRejected(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithTraces)
	traces := ReceiveTraces(t, n)
	p := plugin.New("10", "strict")
	p.On(plugin.RunPodSandbox, plugin.Fail("not today"))
	Connect(t, n, p)
	config := n.CRI().Pod("rejected")
	_, err := n.CRI().RunPod(WithinAMinute(t), config)
	require.Error(t, err)
	Promise(t, "L17", "the span of a plugin that rejected says so", OnStock("it has no such span"), func(t require.TestingT) {
		run := RequireTree(t, traces, "RunPodSandbox", config.GetMetadata().GetUid())
		rejection := run.Find("nri.plugin", map[string]string{"nri.plugin": "10-strict", "nri.outcome": "rejected"})
		require.NotNil(t, rejection, run)
		assert.Contains(t, rejection.Failure, "not today")
	})
}
