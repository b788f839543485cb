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

// A runtime that was killed after it handed in a removal lists the object still. What is
// owed of that removal is its only one.
func TestL18_EndHandedInBeforeAKillIsToldOnce(t *testing.T) {
	for _, c := range []struct{ name, hangs, removedBy, told string }{
		{"removed while it is away", "RemoveContainer", "before", "Synchronize(p1) RemoveContainer:p1/c1"},
		{"removed when it is back", "RemoveContainer", "after", "Synchronize(p1) RemoveContainer:p1/c1"},
		{"stopped while it is away", "StopContainer", "before", "Synchronize(p1) StopContainer:p1/c1 RemoveContainer:p1/c1"},
		{"stopped when it is back", "StopContainer", "after", "Synchronize(p1) StopContainer:p1/c1 RemoveContainer:p1/c1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOwing(t)
				a, _ := frozen("10-a", event(c.hangs+":").Kind) // there when the runtime is killed
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
				assert.Equal(t, c.told, a.told())
				assert.Zero(t, o.owes("10-a"))
			})
		})
	}
}

// A Stop that is owed alone, of a container that is gone after a restart, is followed by
// its Remove, also where the pod is gone too.
func TestL18_StopThatIsOwedIsFollowedByItsRemove(t *testing.T) {
	for _, found := range [][]string{{"p1"}, nil} {
		synctest.Test(t, func(t *testing.T) {
			o := newOwing(t)
			a, _ := frozen("10-a", StopContainer) // there when the runtime is killed
			a.wants = masks["containers"]
			o.joined(a)
			o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
			o.end("StopContainer:p1/c1")
			o.kill()
			o.start(t, found...)
			a = o.again(a)
			assert.Equal(t, "StopContainer:p1/c1 RemoveContainer:p1/c1", strings.Join(strings.Fields(a.told())[1:], " "))
		})
	}
}

// A container whose Stop was heard is removed after its plugin went and came back.
func TestL18_WhatItKnewIsKnownAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.end("StopContainer:p1/c1")
		o.left(a)
		o.lists("p1", "p1/c1!")
		a = o.again(a)
		o.end("RemoveContainer:p1/c1")
		assert.Equal(t, "Synchronize(p1) RemoveContainer:p1/c1", a.told())
	})
}

// Of two connections of a name that come back at a time one hears a Stop and leaves at the
// Remove, and the other does not answer the Stop: the next one is told both, in order.
func TestL18_OrderWithTwoConnectionsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1")
		o.left(a)
		o.lists("p1")

		both := make(chan struct{})
		wait := func(context.Context, Snapshot) error { <-both; return nil }
		hears := newPlugin("10-a")
		hears.synchronize = wait
		hears.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == RemovePodSandbox {
				hears.Close()
				return nil, ErrClosed
			}
			time.Sleep(requestTimeout / 2)
			return nil, nil
		}
		hangs := newPlugin("10-a").hang(StopPodSandbox)
		hangs.synchronize = func(ctx context.Context, s Snapshot) error {
			wait(ctx, s)
			time.Sleep(time.Millisecond) // the other comes first
			return nil
		}
		var joins sync.WaitGroup
		for _, p := range []*plugin{hears, hangs} {
			joins.Go(func() { assert.NoError(t, o.join(p)) })
		}
		synctest.Wait()
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		o.lists()
		close(both)
		joins.Wait()
		time.Sleep(2 * requestTimeout)
		require.True(t, hears.isClosed() && hangs.isClosed())
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", o.again(a).told())
		assert.Zero(t, o.owes("10-a"))
	})
}

// One of two connections of a name does not answer a Stop that is then owed, and takes along
// that it knew the container: the other was never told of that.
func TestL18_RemoveThatNobodyKnowsOfFollowsItsStop(t *testing.T) {
	for _, there := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := newOwing(t)
			first, _ := frozen("10-a", StopContainer)
			o.joined(first)
			o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
			o.end("StopContainer:p1/c1")
			o.lists("p1", "p1/c1!")
			second := o.again(first)
			o.end("RemoveContainer:p1/c1")
			o.left(first)
			if there {
				o.lists("p1")
				o.left(second)
			} else {
				o.lists()
				second.hang(RemovePodSandbox)
				o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
				synctest.Wait()
			}
			require.True(t, second.isClosed())
			a := o.again(newPlugin("10-a"))
			if there {
				o.end("StopPodSandbox:p1")
				o.end("RemovePodSandbox:p1")
				assert.Equal(t, "Synchronize(p1) "+lifeAndEndInOne, a.told())
				return
			}
			assert.Equal(t, "Synchronize() StopContainer:p1/c1 RemoveContainer:p1/c1 RemovePodSandbox:p1", a.told())
		})
	}
}

const lifeAndEndInOne = "StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1"

// While the runtime makes the request of an end, the connection closes that it is for, and
// the next one of the name comes: that is told of the end, and of those behind it.
func TestL18_EndOnItsWayToAConnectionThatCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := make(chan struct{})
		o := &owing{memory: newMemory()}
		var once sync.Once
		o.change = func(opts *Options) {
			opts.ImpliedEnd = func(Kind, string, Event) any {
				once.Do(func() { <-made })
				return nil
			}
		}
		o.start(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		var work sync.WaitGroup
		work.Go(func() { o.end("RemovePodSandbox:p1") })
		synctest.Wait()
		o.left(a)
		next := newPlugin("10-a")
		work.Go(func() { assert.NoError(t, o.join(next)) })
		synctest.Wait()
		close(made)
		work.Wait()
		synctest.Wait()
		assert.Equal(t, "Synchronize() StopContainer:p1/c1 RemoveContainer:p1/c1 StopPodSandbox:p1 RemovePodSandbox:p1", next.told())
		assert.Zero(t, o.owes("10-a"))
	})
}

// What a connection that has closed is still to account for when the next one has come is
// told to that.
func TestL18_NextConnectionComesAmidAnAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		went := make(chan struct{})
		o := &owing{memory: newMemory()}
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
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1", next.told())
		assert.Zero(t, o.owes("10-a"))
	})
}

// An end is handed in while a plugin is away, and before the runtime gets to that the
// plugin is back.
func TestL18_EndHandedInBeforeItComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a, next := newPlugin("10-a"), newPlugin("10-a")
		other := &meddler{plugin: newPlugin("20-b")}
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
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", next.told())
		assert.Zero(t, o.owes("10-a"))
	})
}

// A meddler does something before it takes an event.
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

// A slowAccount is an observer that takes its time with what was lost.
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
