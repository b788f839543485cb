// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
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
		assert.False(t, o.IsOff("10-a"))

		require.Equal(t, 1, o.TurnOff("10-a"))
		synctest.Wait()
		assert.True(t, a.isClosed())
		require.ErrorIs(t, o.journal.reason("10-a"), ErrOff)
		require.ErrorIs(t, o.join(newPlugin("10-a")), ErrOff)
		assert.Zero(t, o.TurnOff("10-a"), "it is off already")
		o.did("RunPodSandbox:p2")
		o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1", "StopPodSandbox:p1", "RemovePodSandbox:p1")
		assert.False(t, b.isClosed())

		require.True(t, o.IsOff("10-a"))
		o.lists("p2")
		require.True(t, o.TurnOn("10-a"))
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

// A plugin that is turned off while it is synchronized has not failed: the creations of its next
// connection wait for it (L13).
func TestL13_TurnedOffPluginHasNotFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		o.lists("p1")
		first := newPlugin("10-a")
		first.untilAllowed()
		joins := o.comes(first)
		o.TurnOff("10-a")
		require.ErrorIs(t, <-joins, ErrOff)
		o.TurnOn("10-a")
		next := newPlugin("10-a")
		may := next.untilAllowed()
		joins = o.comes(next)
		asked := o.asks("CreateContainer:p1/c1")
		close(may)
		require.NoError(t, <-joins)
		require.NoError(t, <-asked)
		assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1", next.received())
	})
}

// expects returns what Expect shows, in the form of what a plugin receives.
func (o *remembering) expects(t *testing.T, name string) (x Expected, ends string) {
	x, err := o.Expect(t.Context(), name, 3)
	require.NoError(t, err)
	for _, ev := range x.Ends {
		ends += " " + eventName(ev)
	}
	return x, ends
}

func TestExpect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		o.lists("p0")
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.lists("p0", "p1", "p1/c1")
		x, _ := o.expects(t, "10-a")
		assert.Equal(t, Expected{Pods: 2, Containers: 1}, x)
		x, _ = o.expects(t, "20-never")
		assert.Equal(t, Expected{Pods: 2, Containers: 1, NewPods: 2, NewContainers: 1}, x)

		o.TurnOff("10-a")
		synctest.Wait()
		o.did("RunPodSandbox:p2")
		o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1", "StopPodSandbox:p1", "RemovePodSandbox:p1")
		o.lists("p0", "p2")
		x, ends := o.expects(t, "10-a")
		x.Ends = nil
		assert.Equal(t, Expected{Pods: 2, NewPods: 1, Missed: 4}, x)
		assert.Equal(t, " StopContainer:p1/c1 RemoveContainer:p1/c1 StopPodSandbox:p1", ends, "no more than three")
	})
}

// The plugin then receives exactly what was shown, also while the runtime's list is behind or has
// objects twice.
func TestExpectedIsReceived(t *testing.T) {
	for name, c := range map[string]struct {
		ended  []string
		listed []string
	}{
		"nothing ended":             {nil, []string{"p1", "p1/c1"}},
		"a stop that is listed":     {[]string{"StopPodSandbox:p1"}, []string{"p1", "p1/c1"}},
		"a container, still listed": {[]string{"StopContainer:p1/c1"}, []string{"p1", "p1/c1"}},
		"a removal, still listed":   {[]string{"StopPodSandbox:p1"}, []string{"p1!"}},
		"listed twice":              {nil, []string{"p1", "p1", "p1/c1", "p1/c1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newRemembering(t)
				a := newPlugin("10-a")
				o.joined(a)
				o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
				o.TurnOff("10-a")
				synctest.Wait()
				o.end(c.ended...)
				o.lists(c.listed...)
				x, ends := o.expects(t, "10-a")
				o.TurnOn("10-a")
				a = o.again(a)
				sync, received, _ := strings.Cut(a.received(), ")")
				assert.Len(t, strings.Fields(strings.TrimPrefix(sync, "Synchronize(")), x.Pods+x.Containers, a.received())
				assert.Equal(t, received, ends)
			})
		})
	}
}
