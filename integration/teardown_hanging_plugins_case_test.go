// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// Five plugins never answer StopPodSandbox: three of them stay connected over
// it, as they asked for, and two are dropped.
func TestL9_PluginsThatHangInAStopCostOneTimeout(t *testing.T) {
	t.Parallel()
	const timeout = 1500 * time.Millisecond
	n := startTarget(t, timeouts{request: timeout})
	gate := newGate(t)
	var kept, dropped []*plugin.Plugin
	for i := range 5 {
		p := plugin.New(fmt.Sprint(10+10*i), "hangs")
		p.On(plugin.StopPodSandbox, gate.Hold)
		if i%2 == 0 {
			p.FailurePolicy(&api.FailurePolicy{KeepConnected: true})
			kept = append(kept, p)
		} else {
			dropped = append(dropped, p)
		}
		connect(t, n, p)
	}
	sixth := plugin.New("60", "answers")
	connect(t, n, sixth)
	ctx, c := withinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("stopped"))
	require.NoError(t, err)

	start := time.Now()
	require.NoError(t, c.StopPod(ctx, pod)) // L8
	stopTook := time.Since(start)
	require.NoError(t, c.RemovePod(ctx, pod))
	require.Equal(t, undone, sixth.Calls().Of(pod).Events())
	requireNothingLeft(t, n)
	gate.Release()
	next, err := c.RunPod(ctx, c.Pod("next"))
	require.NoError(t, err)

	promise(t, "L9", "a stop takes one timeout, however many plugins hang", onStock("each plugin that hangs costs a timeout of its own"), func(t require.TestingT) {
		assert.Less(t, stopTook, 2*timeout)
	})
	promise(t, "L9", "a plugin that answers is told of the stop while others hang", onStock("it waits for the timeouts of those before it"), func(t require.TestingT) {
		first := kept[0].Calls().Of(pod).Only(plugin.StopPodSandbox)
		require.Len(t, first, 1)
		told := sixth.Calls().Of(pod).Only(plugin.StopPodSandbox)
		assert.Less(t, told[0].Start.Sub(first[0].Start), timeout, "the sixth waited for the first to time out")
	})
	promise(t, "L16", "a plugin that hangs is dropped", keptOnStock, func(t require.TestingT) {
		for _, p := range dropped {
			assert.False(t, isOpen(p.Closed()), "%s is still connected", p.Name())
			assert.Equal(t, undone[:2], p.Calls().Of(pod).Events(), p.Name())
		}
	})
	promise(t, "L16", "a plugin that asked to stay connected does, and is told of what follows in order", onStock("it is dropped"), func(t require.TestingT) {
		for _, p := range kept {
			assert.True(t, isOpen(p.Closed()), "%s was dropped", p.Name())
			calls := p.Calls().Of(pod)
			require.Equal(t, undone, calls.Events(), p.Name())
			// For the runtime the stop has ended with its timeout. The plugin's
			// clock starts a little later.
			assert.Greater(t, calls[2].Start.Sub(calls[1].Start), timeout/2, "%s was told of the removal before the stop had ended", p.Name())
			assert.Equal(t, undone[:1], p.Calls().Of(next).Events(), p.Name())
		}
	})
}
