// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

func TestL9_TeardownReachesAllIfAPluginFails(t *testing.T) {
	t.Parallel()
	for others := 1; others <= 2; others++ {
		t.Run(fmt.Sprintf("one fails of %d", others+1), func(t *testing.T) {
			n := startTarget(t)
			failing := plugin.New("10", "fails")
			plugins := []*plugin.Plugin{failing}
			for i := range others {
				plugins = append(plugins, plugin.New(fmt.Sprint(20+10*i), "agrees"))
			}
			connect(t, n, plugins...)
			l := newLife(t, n, "told")
			for _, event := range teardown {
				failing.On(event, plugin.Fail("no more "+string(event)))
			}

			l.end(t) // L8: nobody's failure fails it

			require.Equal(t, teardown, failing.Calls().Of(l.pod).Only(teardown...).Events())
			for _, event := range teardown {
				promise(t, "L9", string(event)+" reaches the plugins after one that fails", onStock("they do not get it"), func(t require.TestingT) {
					for _, p := range plugins[1:] {
						assert.Len(t, p.Calls().Of(l.pod).Only(event), 1, p.Name())
					}
				})
			}
			promise(t, "L1", "it comes in order", onStock("nothing comes"), func(t require.TestingT) {
				for _, p := range plugins[1:] {
					assert.Equal(t, teardown, p.Calls().Of(l.pod).Only(teardown...).Events(), p.Name())
				}
			})
			requireNothingLeft(t, n)
		})
	}
}

func TestL9_TeardownReachesAllIfAPluginCrashes(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	crashing, other := plugin.New("10", "crashes"), plugin.New("20", "agrees")
	connect(t, n, crashing, other)
	l := newLife(t, n, "told")
	crashing.On(plugin.StopContainer, plugin.Crash)
	l.end(t)
	require.Equal(t, teardown, other.Calls().Of(l.pod).Only(teardown...).Events())
	require.Equal(t, teardown[:1], crashing.Calls().Of(l.pod).Only(teardown...).Events())
	requireNothingLeft(t, n)
}
