// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/integration/plugin"
)

var _ = Ends.has("L18_EndsWhileAPluginIsAwayAreToldWhenItIsBack", Needs{}, func(t T) {
	endsWhileAway(t, KeptOnStock, func(Runtime) {})
})

var _ = Ends.has("L18_EndsWhileAPluginIsAwayAreToldAfterARestart", Needs{Restarts: true}, func(t T) {
	endsWhileAway(t, OnStock("pods of before a restart end untold"), func(n Runtime) {
		require.NoError(t, n.Kill(WithinAMinute(t)))
		require.NoError(t, n.Boot(WithinAMinute(t)))
	})
})

// endsWhileAway has a plugin go, pods end, and the plugin come back under its name. It knew
// one pod that is then stopped, one that is removed, and one that stays until it is back. stays
// is what stock makes of the last.
func endsWhileAway(t T, stays Breach, meanwhile func(Runtime)) {
	n, ctx := t.Runtime(), WithinAMinute(t)
	p, other := NewPlugin(t, "10", "returns"), NewPlugin(t, "20", "was-never-there")
	Connect(t, n, p)
	stopped, removed, lasts := NewLife(t, n, "stopped"), NewLife(t, n, "removed"), NewLife(t, n, "lasts")
	p.Crash()
	require.NoError(t, n.CRI().StopPod(ctx, stopped.Pod)) // whoever did not notice before does so now
	meanwhile(n)
	unseen := NewLife(t, n, "unseen")
	unseen.End(t)
	removed.End(t)
	Connect(t, n, p, other)

	back := func(l Life) []plugin.Event { return p.Calls().Connections()[1].Of(l.Pod).Events() }
	stop := []plugin.Event{plugin.StopContainer, plugin.StopPodSandbox}
	t.Promise("L18", "what ended while it was away is told when it is back, in order", OnStock(NeverHears), func(t require.TestingT) {
		for of, last := range map[Life]plugin.Event{removed: plugin.RemovePodSandbox, stopped: plugin.StopPodSandbox} {
			RequireSoon(t, "the ends", func(context.Context) error { return HasAnsweredOf(p, of.Pod, last) })
		}
		assert.Equal(t, EveryEnd, back(removed))
		assert.Equal(t, stop, back(stopped))
	})
	require.NoError(t, n.CRI().RemovePod(ctx, stopped.Pod))
	lasts.End(t)
	t.Promise("L18", "the removal that comes later is told then, and the stop not again", OnStock(NeverHears), func(t require.TestingT) {
		assert.Equal(t, append(stop, plugin.RemoveContainer, plugin.RemovePodSandbox), back(stopped))
	})
	t.Promise("L15", "so is the end of the pod that stayed", stays, func(t require.TestingT) {
		assert.Equal(t, EveryEnd, back(lasts))
	})
	t.Promise("L3", "it is told of nothing that it did not know, and nobody else of what it missed", KeptOnStock, func(t require.TestingT) {
		assert.Empty(t, p.Calls().Of(unseen.Pod))
		assert.Empty(t, other.Calls().Of(removed.Pod))
	})
	RequireNothingLeft(t, n)
}
