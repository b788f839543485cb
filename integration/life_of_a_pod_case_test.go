// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

func TestL1_EventsOfAPodComeInOrder(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	plugins := []*plugin.Plugin{plugin.New("10", "first"), plugin.New("20", "second"), plugin.New("30", "third")}
	connect(t, n, plugins...)

	l := newLife(t, n, "ordinary")
	l.end(t)

	for _, p := range plugins {
		assert.Equal(t, whole, p.Calls().Of(l.pod).Events(), p.Name())
		assert.Equal(t, []plugin.Event{plugin.Configure, plugin.Synchronize}, p.Calls()[:2].Events(), p.Name())
		assert.Len(t, p.Calls(), len(whole)+2, "%s was told of what it does not know", p.Name())
	}
	// What may be refused or adjusted goes from one to the next.
	for i := range plugins[1:] {
		for _, event := range []plugin.Event{plugin.RunPodSandbox, plugin.CreateContainer, plugin.StartContainer} {
			before, after := plugins[i].Calls().Only(event), plugins[i+1].Calls().Only(event)
			assert.False(t, after[0].Start.Before(before[0].End), "%s reached %s before %s had agreed", event, plugins[i+1].Name(), plugins[i].Name())
		}
	}
	requireNothingLeft(t, n)
}

func TestL11_RepeatedTeardownTellsNothing(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	p := plugin.New("10", "once")
	connect(t, n, p)
	l := newLife(t, n, "twice")
	l.end(t)
	l.end(t)
	require.Equal(t, whole, p.Calls().Of(l.pod).Events())
}

func TestL3_RemovalOfARunningPodTellsEveryEnd(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	p := plugin.New("10", "told")
	connect(t, n, p)
	l := newLife(t, n, "forced")
	require.NoError(t, n.CRI().RemovePod(withinAMinute(t), l.pod))
	for _, event := range teardown {
		require.Len(t, p.Calls().Of(l.pod).Only(event), 1, fmt.Sprint(event))
	}
	requireNothingLeft(t, n)
}
