// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

var _ = Pod.has("L1_EventsOfAPodComeInOrder", Needs{}, func(t T) {
	n := t.Runtime()
	plugins := []*plugin.Plugin{NewPlugin(t, "10", "first"), NewPlugin(t, "20", "second"), NewPlugin(t, "30", "third")}
	Connect(t, n, plugins...)

	l := NewLife(t, n, "ordinary")
	l.End(t)

	for _, p := range plugins {
		assert.Equal(t, Whole, p.Calls().Of(l.Pod).Events(), p.Name())
		assert.Equal(t, []plugin.Event{plugin.Configure, plugin.Synchronize}, p.Calls()[:2].Events(), p.Name())
		assert.Len(t, p.Calls(), len(Whole)+2, "%s received events about other pods", p.Name())
	}
	// Plugins receive events that they may reject or adjust one after the other.
	for i := range plugins[1:] {
		for _, event := range []plugin.Event{plugin.RunPodSandbox, plugin.CreateContainer, plugin.StartContainer} {
			before, after := plugins[i].Calls().Only(event), plugins[i+1].Calls().Only(event)
			require.NotEmpty(t, before)
			require.NotEmpty(t, after)
			assert.False(t, after[0].Start.Before(before[0].End), "%s reached %s before %s had approved it", event, plugins[i+1].Name(), plugins[i].Name())
		}
	}
	RequireNothingLeft(t, n)
})

var _ = Teardown.has("L11_RepeatedTeardownDeliversNothing", Needs{}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "once")
	Connect(t, n, p)
	l := NewLife(t, n, "twice")
	l.End(t)
	l.End(t)
	require.Equal(t, Whole, p.Calls().Of(l.Pod).Events())
})

var _ = Teardown.has("L3_RemovalOfARunningPodDeliversEveryEnd", Needs{}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "receives")
	Connect(t, n, p)
	l := NewLife(t, n, "forced")
	require.NoError(t, n.CRI().RemovePod(WithinAMinute(t), l.Pod))
	for _, event := range EveryEnd {
		require.Len(t, p.Calls().Of(l.Pod).Only(event), 1, fmt.Sprint(event))
	}
	RequireNothingLeft(t, n)
})
