// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A plugin freezes at a pod's stop, stays connected by its own failure policy, and wakes up
// after the pod was removed.
var _ = Teardown.has("L4_PluginThatFreezesInAStopReceivesTheRemovalAfterIt", Within(3*time.Second), func(t T) {
	n := t.Runtime()
	timeout, _ := n.Timeouts()
	frozen := JoinProcess(t, n, plugin.Script{
		Index: "10", Name: "frozen",
		Policy:  &api.FailurePolicy{KeepConnected: true},
		Answers: map[plugin.Event]plugin.Answer{plugin.StopPodSandbox: {Freeze: true}},
	})
	other := NewPlugin(t, "20", "other")
	Connect(t, n, other)
	ctx, c := WithinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("stopped"))
	require.NoError(t, err)

	took := func(f func() error) time.Duration {
		start := time.Now()
		require.NoError(t, f())
		return time.Since(start)
	}
	stop := took(func() error { return c.StopPod(ctx, pod) })
	require.NoError(t, frozen.Frozen(ctx))
	RequireSoon(t, "its record", func(context.Context) error { return HasGot(frozen, plugin.StopPodSandbox) })
	remove := took(func() error { return c.RemovePod(ctx, pod) })
	var next string
	create := took(func() (err error) { next, err = c.RunPod(ctx, c.Pod("next")); return err })
	end := EndPod(ctx, t, n, next)
	InTimeouts(t, "the stop", stop, timeout)
	InTimeouts(t, "the removal", remove, timeout)
	InTimeouts(t, "the creation of the next pod", create, timeout)
	InTimeouts(t, "its end", end, timeout)
	require.NoError(t, frozen.Thaw())

	t.Promise("L9", "the stop waits one timeout for a frozen plugin", KeptOnStock, func(t require.TestingT) {
		assert.Less(t, stop, 2*timeout)
	})
	t.Promise("L22", "later calls do not wait for it", KeptOnStock, func(t require.TestingT) {
		assert.Less(t, remove, timeout)
		assert.Less(t, create, timeout)
		assert.Less(t, end, timeout)
	})
	t.Promise("L9", "other plugins receive the stop meanwhile", OnStock("they wait for its timeout"), func(t require.TestingT) {
		first, second := frozen.Calls().Of(pod).Only(plugin.StopPodSandbox), other.Calls().Of(pod).Only(plugin.StopPodSandbox)
		require.Len(t, second, 1)
		assert.Less(t, second[0].Start.Sub(first[0].Start), timeout/2)
		assert.Equal(t, Undone, other.Calls().Of(next).Events())
	})
	t.Promise("L4", "once the plugin wakes up, it receives the removal, after it has answered the stop", OnStock(NoPolicies), func(t require.TestingT) {
		RequireSoon(t, "RemovePodSandbox", func(context.Context) error { return HasAnsweredOf(frozen, pod, plugin.RemovePodSandbox) })
		assert.Equal(t, Undone, frozen.Calls().Of(pod).Events())
		assert.Empty(t, frozen.Calls().Of(next).Events(), "of the pod that was created and removed meanwhile")
		assert.Empty(t, frozen.Gone(), "it was dropped")
		RequireWholeEnds(t, frozen)
	})
	t.Promise("L7", "nothing is left", KeptOnStock, func(t require.TestingT) { RequireNothingLeft(t, n) })
})
