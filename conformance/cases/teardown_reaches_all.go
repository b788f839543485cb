// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

var _ = Teardown.has("L9_TeardownReachesAllIfAPluginFails", Needs{}, func(t T) {
	for others := 1; others <= 2; others++ {
		t.Run(fmt.Sprintf("one fails of %d", others+1), func(t T) {
			n := t.Runtime()
			failing := NewPlugin(t, "10", "fails")
			plugins := []*plugin.Plugin{failing}
			for i := range others {
				plugins = append(plugins, NewPlugin(t, fmt.Sprint(20+10*i), "agrees"))
			}
			Connect(t, n, plugins...)
			l := NewLife(t, n, "delivered")
			for _, event := range EveryEnd {
				failing.On(event, plugin.Fail("no more "+string(event)))
			}

			l.End(t) // L8: no plugin's failure fails it

			require.Equal(t, EveryEnd, failing.Calls().Of(l.Pod).Only(EveryEnd...).Events())
			for _, event := range EveryEnd {
				t.Promise("L9", string(event)+" reaches the plugins after one that fails", OnStock("they do not receive it"), func(t require.TestingT) {
					for _, p := range plugins[1:] {
						assert.Len(t, p.Calls().Of(l.Pod).Only(event), 1, p.Name())
					}
				})
			}
			t.Promise("L1", "they receive it in order", OnStock("they receive nothing"), func(t require.TestingT) {
				for _, p := range plugins[1:] {
					assert.Equal(t, EveryEnd, p.Calls().Of(l.Pod).Only(EveryEnd...).Events(), p.Name())
				}
			})
			RequireNothingLeft(t, n)
		})
	}
})

var _ = Teardown.has("L9_TeardownReachesAllIfAPluginCrashes", Needs{}, func(t T) {
	n := t.Runtime()
	crashing, other := NewPlugin(t, "10", "crashes"), NewPlugin(t, "20", "agrees")
	Connect(t, n, crashing, other)
	l := NewLife(t, n, "delivered")
	crashing.On(plugin.StopContainer, plugin.Crash)
	l.End(t)
	require.Equal(t, EveryEnd, other.Calls().Of(l.Pod).Only(EveryEnd...).Events())
	require.Equal(t, EveryEnd[:1], crashing.Calls().Of(l.Pod).Only(EveryEnd...).Events())
	RequireNothingLeft(t, n)
})
