// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// teardown are the events that must reach all, in order.
var teardown = []plugin.Event{
	plugin.StopContainer,
	plugin.RemoveContainer,
	plugin.StopPodSandbox,
	plugin.RemovePodSandbox,
}

func TestL9_TeardownReachesAll(t *testing.T) {
	for others := 1; others <= 2; others++ {
		t.Run(fmt.Sprintf("one fails of %d", others+1), func(t *testing.T) {
			n := startNode(t)
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
			stockBreaks(t, "L9", "plugins after one that fails get none of the four teardown events", func(t require.TestingT) {
				for _, p := range plugins[1:] {
					assert.Equal(t, teardown, p.Calls().Of(l.pod).Only(teardown...).Events(), p.Name())
				}
			})
			requireNothingLeft(t, n)
		})
	}
}

func TestL9_TeardownReachesAllAfterACrash(t *testing.T) {
	n := startNode(t)
	crashing, other := plugin.New("10", "crashes"), plugin.New("20", "agrees")
	connect(t, n, crashing, other)
	l := newLife(t, n, "told")
	crashing.On(plugin.StopContainer, plugin.Crash)
	l.end(t)
	require.Equal(t, teardown, other.Calls().Of(l.pod).Only(teardown...).Events())
	require.Equal(t, teardown[:1], crashing.Calls().Of(l.pod).Only(teardown...).Events())
	requireNothingLeft(t, n)
}
