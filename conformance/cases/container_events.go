// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

const wholeLife = "created started stopped deleted"

// Each event of a life is sent once and in order, also if its ends follow immediately.
var _ = Teardown.has("L12_EventsOfALifeComeOnceAndInOrder", Needs{Events: true}, func(t T) {
	n := t.Runtime()
	listener := Listen(t, n)
	var lives []Life
	for _, name := range []string{"step-by-step", "at-once", "without-a-stop"} {
		lives = append(lives, NewLife(t, n, name))
	}
	ctx, c := WithinAMinute(t), n.CRI()
	lives[0].End(t)
	require.NoError(t, c.StopPod(ctx, lives[1].Pod))
	require.NoError(t, c.StopPod(ctx, lives[1].Pod))
	require.NoError(t, c.RemovePod(ctx, lives[1].Pod))
	require.NoError(t, c.RemovePod(ctx, lives[2].Pod))
	require.NoError(t, listener.Mark(WithinAMinute(t), n, "after"))

	t.Promise("L12", "listeners receive each event of a life once, in order", SometimesOnStock("the event of the deletion overtakes that of the stop"), func(t require.TestingT) {
		for _, l := range lives {
			assert.Equal(t, wholeLife, listener.Of(l.Pod))
			assert.Equal(t, wholeLife, listener.Of(l.Container))
		}
	})
	t.Promise("L12", "the event of a pod's deletion has the pod's last status", KeptOnStock, func(t require.TestingT) {
		for _, l := range lives {
			status := listener.Last(l.Pod).GetPodSandboxStatus()
			assert.Equal(t, l.Pod, status.GetId())
			assert.Equal(t, runtime.PodSandboxState_SANDBOX_NOTREADY, status.GetState())
		}
	})
})

// A plugin receives RemovePodSandbox just before the pod leaves the list. CRI's listeners
// receive the deletion once the pod has left it, once for any number of removals.
var _ = Teardown.has("L12_DeletionIsSentWhenThePodIsGone", Patient.AndEvents(), func(t T) {
	n := t.Runtime()
	p, gate := NewPlugin(t, "10", "slow"), NewGate(t)
	p.Subscribe(plugin.RemovePodSandbox)
	p.On(plugin.RemovePodSandbox, gate.Hold)
	Connect(t, n, p)
	listener := Listen(t, n)
	ctx, c := WithinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("going"))
	require.NoError(t, err)
	require.NoError(t, c.StopPod(ctx, pod))

	first := InBackground(func() error { return c.RemovePod(ctx, pod) })
	RequireClosed(t, gate.Entered(), "RemovePodSandbox")
	_ = listener.Mark(WithinMoments(t), n, "meanwhile") // fails on a runtime where everything waits for the plugin
	before := listener.Of(pod)
	second := InBackground(func() error { return c.RemovePod(ctx, pod) })
	gate.Release()
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	require.NoError(t, listener.Mark(WithinAMinute(t), n, "after"))

	t.Promise("L12", "listeners receive no deletion before the pod is gone", OnStock("they do"), func(t require.TestingT) {
		assert.NotContains(t, before, "deleted")
	})
	t.Promise("L12", "listeners receive the deletion once after two removals", SometimesOnStock("they receive it twice"), func(t require.TestingT) {
		assert.Equal(t, wholeLife, listener.Of(pod))
	})
})

// Listeners receive events of pods that became Ready, and none of a pod whose creation
// failed or was ended.
var _ = Pod.has("L6_PodThatNeverBecomesReadyHasNoEvents", Patient.AndEvents(), func(t T) {
	n := t.Runtime()
	first, second := NewPlugin(t, "10", "first"), NewPlugin(t, "20", "second")
	Connect(t, n, first, second)
	listener := Listen(t, n)
	second.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) error {
		if call.Pod.GetName() == "rejected" {
			return assert.AnError
		}
		return nil
	})
	ctx, c := WithinAMinute(t), n.CRI()
	rejected := NewInHook(t, n, first, "rejected")
	rejected.Gate.Release()
	require.Error(t, <-rejected.Ran)

	ended := NewInHook(t, n, first, "ended")
	stopped := InBackground(func() error { return c.StopPod(ctx, ended.ID) })
	RequireWaiting(t, n, first, 1)
	ended.Gate.Release()
	errEnded, errStopped := <-ended.Ran, <-stopped
	first.On(plugin.RunPodSandbox, nil)
	require.NoError(t, listener.Mark(WithinAMinute(t), n, "after"))
	t.Promise("L6", "listeners receive no event of a pod that plugins rejected", KeptOnStock, func(t require.TestingT) {
		assert.Empty(t, listener.Of(rejected.ID))
	})
	if errStopped != nil { // the pod did not end, which is for another case to find
		return
	}
	t.Promise("L6", "listeners receive no event of a pod that was stopped in its hook", OnStock("the pod becomes Ready"), func(t require.TestingT) {
		require.Error(t, errEnded)
		assert.Empty(t, listener.Of(ended.ID))
	})
})
