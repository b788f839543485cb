// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// A plugin freezes at a pod's stop, stays connected, as it asked for, and wakes up
// when the pod has gone.
func TestL4_PluginThatFreezesInAStopIsToldOfTheRemovalAfterIt(t *testing.T) {
	t.Parallel()
	const timeout = 3 * time.Second
	n := startTarget(t, timeouts{request: timeout})
	frozen := joinProcess(t, n, plugin.Script{
		Index: "10", Name: "frozen",
		Policy:  &api.FailurePolicy{KeepConnected: true},
		Answers: map[plugin.Event]plugin.Answer{plugin.StopPodSandbox: {Freeze: true}},
	})
	other := plugin.New("20", "other")
	connect(t, n, other)
	ctx, c := withinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("stopped"))
	require.NoError(t, err)

	took := func(f func() error) time.Duration {
		start := time.Now()
		require.NoError(t, f())
		return time.Since(start)
	}
	stop := took(func() error { return c.StopPod(ctx, pod) })
	require.NoError(t, frozen.Frozen(ctx))
	remove := took(func() error { return c.RemovePod(ctx, pod) })
	var next string
	create := took(func() (err error) { next, err = c.RunPod(ctx, c.Pod("next")); return err })
	end := endPod(ctx, t, n, next)
	inTimeouts(t, "the stop", stop, timeout)
	inTimeouts(t, "the removal", remove, timeout)
	inTimeouts(t, "the creation of the next pod", create, timeout)
	inTimeouts(t, "its end", end, timeout)
	require.NoError(t, frozen.Thaw())

	promise(t, "L9", "the stop waits one timeout for a frozen plugin", keptOnStock, func(t require.TestingT) {
		assert.Less(t, stop, 2*timeout)
	})
	promise(t, "L22", "nothing that follows waits for it", keptOnStock, func(t require.TestingT) {
		assert.Less(t, remove, timeout)
		assert.Less(t, create, timeout)
		assert.Less(t, end, timeout)
	})
	promise(t, "L9", "other plugins are told of the stop meanwhile", onStock("they wait for its timeout"), func(t require.TestingT) {
		first, second := frozen.Calls().Of(pod).Only(plugin.StopPodSandbox), other.Calls().Of(pod).Only(plugin.StopPodSandbox)
		require.Len(t, second, 1)
		assert.Less(t, second[0].Start.Sub(first[0].Start), timeout/2)
		assert.Equal(t, undone, other.Calls().Of(next).Events())
	})
	promise(t, "L4", "once it wakes up it is told of the removal, after it has answered the stop", onStock(noPolicies), func(t require.TestingT) {
		requireSoon(t, "RemovePodSandbox", func(context.Context) error { return hasAnsweredOf(frozen, pod, plugin.RemovePodSandbox) })
		assert.Equal(t, undone, frozen.Calls().Of(pod).Events())
		assert.Empty(t, frozen.Calls().Of(next).Events(), "of the pod that came and went meanwhile")
		assert.Empty(t, frozen.Gone(), "it was dropped")
		requireWholeEnds(t, frozen)
	})
	promise(t, "L7", "nothing is left", keptOnStock, func(t require.TestingT) { requireNothingLeft(t, n) })
}
