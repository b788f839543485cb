// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A plugin that is turned off is a disconnected plugin that cannot come back: it receives what it
// missed once it is on.
func TestL18_TurnedOffPluginMissesEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a, b := newPlugin("10-a"), newPlugin("20-b")
		o.joined(a)
		o.joined(b)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		assert.Nil(t, o.Off("10-a"))

		require.Equal(t, 1, o.TurnOff("10-a"))
		synctest.Wait()
		assert.True(t, a.isClosed())
		require.ErrorIs(t, o.journal.reason("10-a"), ErrOff)
		require.ErrorIs(t, o.join(newPlugin("10-a")), ErrOff)
		assert.Zero(t, o.TurnOff("10-a"), "it is off already")
		o.did("RunPodSandbox:p2")
		o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1", "StopPodSandbox:p1", "RemovePodSandbox:p1")
		assert.False(t, b.isClosed())

		on := o.Off("10-a")
		require.NotNil(t, on)
		o.lists("p2")
		require.True(t, o.TurnOn("10-a"))
		<-on
		require.False(t, o.TurnOn("10-a"))
		a = o.again(a)
		assert.Equal(t, "Synchronize(p2) "+lifeAndEnd, a.received())
	})
}

// A request under way when its plugin is turned off is one that a lost connection has not
// answered, and its caller goes on at once.
func TestTurnOffEndsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, b := newPlugin("10-a").hang(RunPodSandbox), newPlugin("20-b")
		f.joined(a)
		f.joined(b)
		start := time.Now()
		asked := f.asks("RunPodSandbox:p1")
		f.TurnOff("10-a")
		require.NoError(t, <-asked)
		assert.Zero(t, time.Since(start))
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", b.received())
	})
}

// No connection of the name is left: not one that joins, nor one that waits to take over.
func TestL19_TurnOffLeavesNoSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, second, third := newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a")
		second.untilAllowed()
		f.joined(first)
		joins := f.comes(second)
		waits := f.comes(third)
		require.Equal(t, 3, f.TurnOff("10-a"))
		require.Error(t, <-joins)
		require.Error(t, <-waits)
		synctest.Wait()
		for _, p := range []*plugin{first, second, third} {
			assert.True(t, p.isClosed())
		}
		assert.Empty(t, third.received())
		assert.Empty(t, f.Status().Connections)
	})
}

func TestExpect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		o.lists("p0")
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.lists("p0", "p1", "p1/c1")
		expect := func(name string) Expected {
			x, err := o.Expect(t.Context(), name)
			require.NoError(t, err)
			return x
		}
		assert.Empty(t, expect("10-a").New)
		assert.Len(t, expect("20-never").New, 3)

		o.TurnOff("10-a")
		synctest.Wait()
		o.did("RunPodSandbox:p2")
		o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1", "StopPodSandbox:p1")
		o.lists("p0", "p1!", "p2")
		x := expect("10-a")
		assert.Equal(t, pods("p2"), x.New)
		assert.Len(t, x.List.Pods, 3)
		var ends []string
		for _, ev := range x.Ends {
			ends = append(ends, eventName(ev))
		}
		assert.Equal(t, []string{"StopContainer:p1/c1", "RemoveContainer:p1/c1", "StopPodSandbox:p1"}, ends)

		o.TurnOn("10-a")
		a = o.again(a)
		assert.Equal(t, "Synchronize(p0 p1! p2) StopContainer:p1/c1 RemoveContainer:p1/c1 StopPodSandbox:p1", a.received(), "it receives something else")
	})
}
