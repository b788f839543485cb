// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"fmt"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Five plugins never answer StopPodSandbox: three of them stay connected by their own failure
// policy, and two are dropped.
var _ = Teardown.has("L9_PluginsThatHangInAStopCostOneTimeout", Within(1500*time.Millisecond), func(t T) {
	n := t.Runtime()
	timeout, _ := n.Timeouts()
	gate := NewGate(t)
	var kept, dropped []*plugin.Plugin
	for i := range 5 {
		p := NewPlugin(t, fmt.Sprint(10+10*i), "never-stops")
		p.On(plugin.StopPodSandbox, gate.Hold)
		if i%2 == 0 {
			p.FailurePolicy(&api.FailurePolicy{KeepConnected: true})
			kept = append(kept, p)
		} else {
			dropped = append(dropped, p)
		}
		Connect(t, n, p)
	}
	sixth := NewPlugin(t, "60", "answers")
	Connect(t, n, sixth)
	ctx, c := WithinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("stopped"))
	require.NoError(t, err)

	start := time.Now()
	require.NoError(t, c.StopPod(ctx, pod)) // L8
	stopTook := time.Since(start)
	require.NoError(t, c.RemovePod(ctx, pod))
	require.Equal(t, Undone, sixth.Calls().Of(pod).Events())
	RequireNothingLeft(t, n)
	gate.Release()
	next, err := c.RunPod(ctx, c.Pod("next"))
	require.NoError(t, err)

	t.Promise("L9", "a stop takes one timeout, however many plugins hang", OnStock("each plugin that hangs costs a timeout of its own"), func(t require.TestingT) {
		assert.Less(t, stopTook, 2*timeout)
	})
	t.Promise("L9", "a plugin that answers receives the stop while others hang", OnStock("it waits for the timeouts of the plugins before it"), func(t require.TestingT) {
		first := kept[0].Calls().Of(pod).Only(plugin.StopPodSandbox)
		require.Len(t, first, 1)
		received := sixth.Calls().Of(pod).Only(plugin.StopPodSandbox)
		assert.Less(t, received[0].Start.Sub(first[0].Start), timeout, "the sixth waited for the first to time out")
	})
	t.Promise("L16", "a plugin that hangs is dropped", KeptOnStock, func(t require.TestingT) {
		for _, p := range dropped {
			RequireClosedSoon(t, p)
			assert.Equal(t, Undone[:2], p.Calls().Of(pod).Events(), p.Name())
		}
	})
	t.Promise("L16", "a plugin whose policy is to stay connected does, and receives later events in order", OnStock("it is dropped"), func(t require.TestingT) {
		for _, p := range kept {
			require.True(t, IsOpen(p.Closed()), "%s was dropped", p.Name())
			// It was released a moment ago. Missed events are delivered late.
			RequireSoon(t, "the events that it missed", func(context.Context) error { return HasAnsweredOf(p, next, plugin.RunPodSandbox) })
			calls := p.Calls().Of(pod)
			require.Equal(t, Undone, calls.Events(), p.Name())
			// For the runtime the stop has ended with its timeout. The plugin's
			// clock starts a little later.
			assert.Greater(t, calls[2].Start.Sub(calls[1].Start), timeout/2, "%s received the removal before the stop had ended", p.Name())
			assert.Equal(t, Undone[:1], p.Calls().Of(next).Events(), p.Name())
		}
	})
})
