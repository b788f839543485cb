// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A runtime that was killed after it handed in a removal still lists the object. The plugin
// receives the missed removal, and no second one.
func TestL18_EndHandedInBeforeAKillIsDeliveredOnce(t *testing.T) {
	for _, c := range []struct{ name, hangs, removedBy, received string }{
		{"removed while it is disconnected", "RemoveContainer", "before", "Synchronize(p1) RemoveContainer:p1/c1"},
		{"removed when it is back", "RemoveContainer", "after", "Synchronize(p1) RemoveContainer:p1/c1"},
		{"stopped while it is disconnected", "StopContainer", "before", "Synchronize(p1) StopContainer:p1/c1 RemoveContainer:p1/c1"},
		{"stopped when it is back", "StopContainer", "after", "Synchronize(p1) StopContainer:p1/c1 RemoveContainer:p1/c1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newRemembering(t)
				a, _ := frozen("10-a", event(c.hangs+":").Kind) // connected when the runtime is killed
				o.joined(a)
				o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
				o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1")
				o.kill()
				o.start(t, "p1", "p1/c1!")
				remove := func() { o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1") }
				if c.removedBy == "before" {
					remove()
				}
				a = o.again(newPlugin("10-a"))
				remove()
				assert.Equal(t, c.received, a.received())
				assert.Zero(t, o.missed("10-a"))
			})
		})
	}
}

// Only the Stop of a container was missed, and the container is gone after a restart. The Remove
// follows the Stop, also where the pod is gone, too.
func TestL18_MissedStopIsFollowedByItsRemove(t *testing.T) {
	for _, found := range [][]string{{"p1"}, nil} {
		synctest.Test(t, func(t *testing.T) {
			o := newRemembering(t)
			a, _ := frozen("10-a", StopContainer) // connected when the runtime is killed
			a.wants = masks["containers"]
			o.joined(a)
			o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
			o.end("StopContainer:p1/c1")
			o.kill()
			o.start(t, found...)
			a = o.again(a)
			assert.Equal(t, "StopContainer:p1/c1 RemoveContainer:p1/c1", strings.Join(strings.Fields(a.received())[1:], " "))
		})
	}
}

// A plugin answers a container's Stop, disconnects and comes back. It receives the container's
// Remove.
func TestL18_ReturningPluginKnowsItsObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.end("StopContainer:p1/c1")
		o.left(a)
		o.lists("p1", "p1/c1!")
		a = o.again(a)
		o.end("RemoveContainer:p1/c1")
		assert.Equal(t, "Synchronize(p1) RemoveContainer:p1/c1", a.received())
	})
}

// Two connections of a name are connected at the same time. The second receives events, but
// nothing is kept for it: the name misses ends only of what the first knew.
func TestL18_SecondConnectionOfANameMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		first, second := newPlugin("10-a"), newPlugin("10-a")
		o.joined(first)
		o.did("RunPodSandbox:p1")
		o.lists("p1")
		o.joined(second)
		o.did("RunPodSandbox:p2")
		o.left(second)
		assert.Zero(t, o.missed("10-a"))
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		assert.Zero(t, o.missed("10-a"))
		second = newPlugin("10-a")
		o.lists("p2")
		o.joined(second)
		o.left(first)
		o.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		assert.Equal(t, 2, o.missed("10-a"))
		assert.Equal(t, "Synchronize(p2) StopPodSandbox:p2 RemovePodSandbox:p2", second.received())
		o.lists()
		assert.Equal(t, "Synchronize() StopPodSandbox:p2 RemovePodSandbox:p2", o.again(first).received())
		assert.Zero(t, o.missed("10-a"))
	})
}

// A connection is lost, and the next one joins before the observer has seen all losses. The next
// one receives the lost ends.
func TestL18_NextConnectionJoinsBeforeALossIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		went := make(chan struct{})
		o := &remembering{memory: newMemory()}
		var once sync.Once
		o.change = func(opts *Options) {
			opts.Observer = &slowAccount{Observer: opts.Observer, lost: func(ev Event) {
				if ev.Kind == RemoveContainer {
					once.Do(func() { <-went })
				}
			}}
		}
		o.start(t)
		a := newPlugin("10-a").breakAt(StopPodSandbox)
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		var work sync.WaitGroup
		work.Go(func() { o.end("StopPodSandbox:p1", "RemoveContainer:p1/c1", "RemovePodSandbox:p1") })
		synctest.Wait()
		next := newPlugin("10-a")
		work.Go(func() { assert.NoError(t, o.join(next)) })
		synctest.Wait()
		close(went)
		work.Wait()
		synctest.Wait()
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1", next.received())
		assert.Zero(t, o.missed("10-a"))
	})
}

// An end is handed in while a plugin is disconnected. The plugin is back before the runtime
// processes the end.
func TestL18_EndHandedInBeforeThePluginReturns(t *testing.T) {
	for _, name := range []string{"00-before", "20-behind"} {
		synctest.Test(t, func(t *testing.T) {
			o := newRemembering(t)
			a, next := newPlugin("10-a"), newPlugin("10-a")
			other := &meddler{plugin: newPlugin(name)}
			o.joined(a)
			require.NoError(t, o.Join(t.Context(), other, other.sync))
			o.did("RunPodSandbox:p1")
			o.left(a)
			other.on = func(ev Event) {
				if ev.Kind == StopPodSandbox {
					o.joined(next)
				}
			}
			o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
			synctest.Wait()
			assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", next.received())
			assert.Zero(t, o.missed("10-a"))
		})
	}
}

// A meddler does something before it receives an event.
type meddler struct {
	*plugin
	on func(Event)
}

func (m *meddler) Deliver(ctx context.Context, ev Event, due time.Time, answer func(any, error)) {
	if m.on != nil {
		m.on(ev)
	}
	m.plugin.Deliver(ctx, ev, due, answer)
}

// A slowAccount is an observer that takes its time with lost events.
type slowAccount struct {
	Observer
	lost func(Event)
}

func (s *slowAccount) Delivered(d Delivery) {
	if d.Outcome == Lost {
		s.lost(d.Event)
	}
	s.Observer.Delivered(d)
}
