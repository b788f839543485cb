// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func takesBack(o *Options) { o.TakeBack = true }

// held is an update that the runtime ends.
func (f *fixture) held(text string) {
	f.t.Helper()
	require.NoError(f.t, f.Ask(f.t.Context(), update(text), nil))
	f.did("Post" + text)
}

// fails is an update that the runtime fails after all plugins have agreed.
func (f *fixture) fails(text string) {
	f.t.Helper()
	require.NoError(f.t, f.Ask(f.t.Context(), update(text), nil))
	require.NoError(f.t, f.Refused(update(text)))
}

// newUpdated returns a fixture with plugins that have received a pod and a container. It keeps the
// lanes of plugins that disconnect.
func newUpdated(t *testing.T, plugins ...*plugin) *fixture {
	t.Helper()
	f := newFixture(t, takesBack, func(o *Options) { o.MissedEvents = newMemory() })
	f.joined(plugins...)
	require.NoError(t, f.ask(t.Context(), "RunPodSandbox:p1"))
	require.NoError(t, f.ask(t.Context(), "CreateContainer:p1/c1"))
	return f
}

// updates returns the requests of the updates that a plugin has received, and "held" for one without
// a request.
func (p *plugin) updates() (all []any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.history {
		switch {
		case r.Kind.Updates() && r.Late && r.Request == nil:
			all = append(all, "held")
		case r.Kind.Updates():
			all = append(all, r.Request)
		}
	}
	return all
}

func update(text string) Event {
	ev := event(text)
	ev.Request = "asked"
	return ev
}

// The plugins that received a refused update receive what holds, and no others.
func TestL26_RefusedUpdateIsTakenBack(t *testing.T) {
	for kind, text := range map[Kind]string{UpdatePodSandbox: "UpdatePodSandbox:p1", UpdateContainer: "UpdateContainer:p1/c1"} {
		t.Run(kind.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b, c := newPlugin("10-a"), newPlugin("20-b").reject(kind), newPlugin("30-c")
				quiet := newPlugin("15-q")
				quiet.wants = func(k Kind) bool { return k != kind }
				f := newUpdated(t, a, b, c, quiet)

				require.ErrorIs(t, f.Ask(t.Context(), update(text), nil), errRejected)
				synctest.Wait()
				assert.Equal(t, []any{"asked", "held"}, a.updates())
				assert.Equal(t, []any{"asked"}, b.updates(), "it has refused")
				assert.Empty(t, c.updates(), "it was not asked")
				assert.Empty(t, quiet.updates(), "it did not subscribe")
			})
		})
	}
}

// The replies of two plugins may not go together. Both have agreed.
func TestL26_ConflictRefusesAnUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newPlugin("10-a"), newPlugin("20-b")
		f := newUpdated(t, a, b)
		err := f.Ask(t.Context(), update("UpdateContainer:p1/c1"), func(c Connection, _ any) error {
			if c == b {
				return errRejected
			}
			return nil
		})
		require.ErrorIs(t, err, errRejected)
		synctest.Wait()
		assert.Equal(t, []any{"asked", "held"}, a.updates())
		assert.Equal(t, []any{"asked", "held"}, b.updates())
	})
}

// A caller cancels while a plugin is asked. The plugin may agree after that.
func TestL26_CanceledUpdateIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newPlugin("10-a"), newPlugin("20-b")
		b.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Request == "asked" {
				time.Sleep(requestTimeout / 2)
			}
			return nil, nil
		}
		f := newUpdated(t, a, b)
		ctx, cancel := context.WithTimeout(t.Context(), requestTimeout/4)
		defer cancel()
		require.ErrorIs(t, f.Ask(ctx, update("UpdateContainer:p1/c1"), nil), context.DeadlineExceeded)
		synctest.Wait()
		assert.Equal(t, []any{"asked", "held"}, a.updates())
		assert.Equal(t, []any{"asked"}, b.updates(), "it has not answered yet")
		time.Sleep(requestTimeout)
		synctest.Wait()
		assert.Equal(t, []any{"asked", "held"}, b.updates())
	})
}

// A plugin that is overdue with an update receives what holds when it has answered.
func TestL26_OverdueUpdateIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newPlugin("10-a"), newPlugin("20-b").reject(UpdateContainer)
		a.keepConnected = true
		late := make(chan struct{})
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Request == "asked" {
				<-late
			}
			return nil, nil
		}
		f := newUpdated(t, a, b)
		require.ErrorIs(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil), errRejected)
		synctest.Wait()
		assert.Equal(t, []any{"asked"}, a.updates())
		close(late)
		synctest.Wait()
		assert.Equal(t, []any{"asked", "held"}, a.updates())
	})
}

// However often an update is refused while a plugin hangs, the plugin receives what holds once.
func TestL26_RetriesFillNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a, busy := hungPlugin(t)
		b := newPlugin("20-b").reject(UpdateContainer, UpdatePodSandbox)
		f.joined(b)
		for range 10 {
			require.ErrorIs(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil), errRejected)
			require.ErrorIs(t, f.Ask(t.Context(), update("UpdatePodSandbox:p1"), nil), errRejected)
		}
		b.handle = nil
		for range 10 {
			f.fails("UpdateContainer:p1/c1")
			f.fails("UpdatePodSandbox:p1")
		}
		close(busy)
		synctest.Wait()
		assert.Equal(t, []any{"held", "held"}, a.updates())
	})
}

// hungPlugin returns a plugin that is overdue with a container until busy is closed.
func hungPlugin(t *testing.T) (f *fixture, a *plugin, busy chan struct{}) {
	t.Helper()
	a, busy = newPlugin("10-a"), make(chan struct{})
	a.keepConnected = true
	a.handle = func(_ context.Context, ev Event) (any, error) {
		if ev.Kind == PostStartContainer {
			<-busy
		}
		return nil, nil
	}
	f = newFixture(t, takesBack, handsOver)
	f.joined(a)
	f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "PostStartContainer:p1/c1")
	f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
	return f, a, busy
}

// An update goes on without an overdue plugin. The plugin receives later what holds, and nothing of
// an update that it did not miss.
func TestL26_SkippedPluginReceivesWhatHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a, busy := hungPlugin(t)
		f.held("UpdateContainer:p1/c1")
		close(busy)
		synctest.Wait()
		assert.Equal(t, []any{"held"}, a.updates())
		f.held("UpdateContainer:p1/c1")
		assert.Equal(t, []any{"held", "asked"}, a.updates())
	})
}

// The answer of a plugin that timed out is no part of the update, also if it comes while the next
// plugin is asked.
func TestL26_LateAnswerIsNoPartOfTheUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newPlugin("10-a"), newPlugin("20-b")
		a.keepConnected = true
		takes := func(d time.Duration) func(context.Context, Event) (any, error) {
			return func(_ context.Context, ev Event) (any, error) {
				if ev.Request == "asked" {
					time.Sleep(d)
				}
				return nil, nil
			}
		}
		a.handle, b.handle = takes(requestTimeout*5/4), takes(requestTimeout/2)
		f := newUpdated(t, a, b)
		f.held("UpdateContainer:p1/c1")
		synctest.Wait()
		assert.Equal(t, []any{"asked", "held"}, a.updates())
		assert.Equal(t, []any{"asked"}, b.updates())
	})
}

// Without the option a plugin that was skipped receives the updates themselves, in their order.
func TestL26_SkippedPluginReceivesUpdatesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a := newFixture(t), newPlugin("10-a")
		a.keepConnected = true
		thawed := make(chan struct{})
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Request == "frozen" {
				<-thawed
			}
			return nil, nil
		}
		f.joined(a)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		for _, request := range []string{"frozen", "second", "third"} {
			ev := event("UpdateContainer:p1/c1")
			ev.Request = request
			require.NoError(t, f.Ask(t.Context(), ev, nil))
		}
		close(thawed)
		synctest.Wait()
		assert.Equal(t, []any{"frozen", "second", "third"}, a.updates())
	})
}

// Without the option plugins receive nothing.
func TestL26_RuntimeMayNotSayWhatHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a := newFixture(t), newPlugin("10-a")
		f.joined(a)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.fails("UpdateContainer:p1/c1")
		synctest.Wait()
		assert.Equal(t, []any{"asked"}, a.updates())
	})
}

// Two updates are under way, and the first fails. The plugins have agreed to the second, so they
// receive what holds only when that has ended, too.
func TestL26_WhatHoldsWaitsForTheLastUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a := newFixture(t, takesBack), newPlugin("10-a")
		f.joined(a)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.fails("UpdateContainer:p1/c1")
		synctest.Wait()
		assert.Equal(t, []any{"asked", "held"}, a.updates())

		require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
		require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
		require.NoError(t, f.Refused(update("UpdateContainer:p1/c1")))
		synctest.Wait()
		assert.Equal(t, []any{"asked", "held", "asked", "asked"}, a.updates())
		f.did("PostUpdateContainer:p1/c1")
		synctest.Wait()
		assert.Equal(t, []any{"asked", "held", "asked", "asked", "held"}, a.updates())
	})
}

// Both hold, and the runtime may have applied them in another order than plugins received them.
func TestL26_UpdatesThatOverlapAreFollowedByWhatHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a := newFixture(t, takesBack), newPlugin("10-a")
		f.joined(a)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
		f.held("UpdateContainer:p1/c1")
		assert.Equal(t, []any{"asked", "asked"}, a.updates())
		f.did("PostUpdateContainer:p1/c1")
		synctest.Wait()
		assert.Equal(t, []any{"asked", "asked", "held"}, a.updates())
	})
}

// What holds waits for a plugin, and the next update comes. It is read only after that update.
func TestL26_WhatHoldsIsNotReadDuringAnUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a, busy := hungPlugin(t)
		f.fails("UpdateContainer:p1/c1")
		require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
		close(busy)
		synctest.Wait()
		assert.Empty(t, a.updates(), "the runtime has not ended the update")
		f.did("PostUpdateContainer:p1/c1")
		synctest.Wait()
		assert.Equal(t, []any{"held"}, a.updates())
	})
}

// A plugin is busy when an update of the memory is rejected. The next update is one of the CPUs only,
// and begins before the plugin has received what holds.
func TestL26_WhatHoldsIsNotForgottenAfterAnotherUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newPlugin("10-a"), newPlugin("20-b")
		rejected, idle := make(chan struct{}), make(chan struct{})
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == PostStartContainer {
				<-idle
			}
			return nil, nil
		}
		b.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Request != "memory" {
				return nil, nil
			}
			<-rejected
			return nil, errRejected
		}
		f := newUpdated(t, a, b)
		ask := func(text string, request any) <-chan error {
			ev, done := event(text), make(chan error, 1)
			ev.Request = request
			go func() { done <- f.Ask(t.Context(), ev, nil) }()
			synctest.Wait()
			return done
		}
		memory := ask("UpdateContainer:p1/c1", "memory")
		started := ask("PostStartContainer:p1/c1", nil)
		close(rejected)
		require.ErrorIs(t, <-memory, errRejected)
		cpus := ask("UpdateContainer:p1/c1", "cpus")
		close(idle)
		require.NoError(t, <-started)
		require.NoError(t, <-cpus)
		f.did("PostUpdateContainer:p1/c1")
		synctest.Wait()
		assert.Equal(t, []any{"memory", "cpus", "held"}, a.updates())
	})
}

// The runtime lists a container for a plugin while it updates the container.
func TestL26_PluginThatJoinsDuringAnUpdateReceivesWhatHolds(t *testing.T) {
	for name, end := range map[string]func(*fixture){
		"that holds": func(f *fixture) { f.did("PostUpdateContainer:p1/c1") },
		"that fails": func(f *fixture) { require.NoError(f.t, f.Refused(update("UpdateContainer:p1/c1"))) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, name := range []string{"20-b", "10-a"} { // the second is a successor
				synctest.Test(t, func(t *testing.T) {
					f, first, next := newFixture(t, takesBack, handsOver), newPlugin("10-a"), newPlugin(name)
					f.joined(first)
					f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
					f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
					require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
					f.joined(next)
					end(f)
					synctest.Wait()
					assert.Equal(t, []any{"held"}, next.updates(), name)
				})
			}
		})
	}
}

// slowSuccessor joins a plugin that needs longer for its Synchronize than events wait for it, and
// returns when they go on. Its predecessor knows a pod and a container.
func slowSuccessor(t *testing.T, f *fixture, first *plugin, before func()) (next *plugin, joined chan error) {
	t.Helper()
	f.joined(first)
	f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
	before()
	f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
	next, joined = newPlugin(first.name), make(chan error)
	next.synchronize = func(context.Context, Snapshot) error {
		time.Sleep(requestTimeout)
		return nil
	}
	go func() { joined <- f.join(next) }()
	time.Sleep(requestTimeout * 3 / 4)
	return next, joined
}

func handsOver(o *Options) { o.HandOver = func(Connection) bool { return true } }

// A successor that takes long for its Synchronize receives what holds of what was updated meanwhile
// (L19), once.
func TestL26_SuccessorReceivesWhatChangedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, first := newFixture(t, takesBack, handsOver), newPlugin("10-a")
		next, joined := slowSuccessor(t, f, first, func() {})
		for range 2 {
			f.held("UpdateContainer:p1/c1")
		}
		f.held("UpdatePodSandbox:p1")
		assert.Equal(t, []any{"asked", "asked", "asked"}, first.updates())
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, []any{"held", "held"}, next.updates())
	})
}

// So does a successor that subscribes to updates, though its predecessor did not.
func TestL26_SuccessorReceivesWhatItsPredecessorDidNotWant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, first := newFixture(t, takesBack, handsOver), newPlugin("10-a")
		first.wants = func(k Kind) bool { return !k.Updates() }
		next, joined := slowSuccessor(t, f, first, func() {})
		f.held("UpdateContainer:p1/c1")
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, []any{"held"}, next.updates())
	})
}

// The predecessor is overdue, so the successor inherits what holds, and notes it for itself.
func TestL26_SuccessorOfAHungPluginReceivesWhatHoldsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a, busy := hungPlugin(t)
		defer close(busy)
		require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
		next := newPlugin(a.name)
		next.synchronize = func(context.Context, Snapshot) error {
			return f.Refused(update("UpdateContainer:p1/c1"))
		}
		f.joined(next)
		synctest.Wait()
		assert.Equal(t, []any{"held"}, next.updates())
	})
}

// A container is created and updated while a successor is synchronized. Its predecessor hangs and
// did not want updates, so only the creation is in the line that it inherits.
func TestL26_SuccessorReceivesWhatChangedAfterItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, busy := newPlugin("10-a"), make(chan struct{})
		defer close(busy)
		first.keepConnected = true
		first.wants = func(k Kind) bool { return !k.Updates() }
		first.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == PostStartContainer {
				<-busy
			}
			return nil, nil
		}
		f := newFixture(t, takesBack, handsOver)
		f.joined(first)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "PostStartContainer:p1/c1")
		f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
		next := newPlugin("10-a")
		next.synchronize = func(context.Context, Snapshot) error {
			f.did("CreateContainer:p1/c2", "PostCreateContainer:p1/c2")
			f.held("UpdateContainer:p1/c2")
			return nil
		}
		f.joined(next)
		synctest.Wait()
		assert.Equal(t, "Synchronize(p1 p1/c1) CreateContainer:p1/c2 UpdateContainer:p1/c2", next.received())
	})
}

// A watched plugin runs a function when the engine asks next whether it is closed.
type watched struct {
	*plugin
	next atomic.Pointer[func()]
}

func (w *watched) Closed() <-chan struct{} {
	if next := w.next.Swap(nil); next != nil {
		(*next)()
	}
	return w.plugin.Closed()
}

// An update ends while a successor takes over. Its predecessor has agreed, and the successor was
// synchronized before the update.
func TestL26_SuccessorReceivesWhatEndsWhileItTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, first := newFixture(t, takesBack, handsOver), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
		require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
		second := &watched{plugin: newPlugin("10-a")}
		ended := make(chan error, 1)
		ends := func() {
			go func() { ended <- f.ask(t.Context(), "PostUpdateContainer:p1/c1") }()
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, f.Join(t.Context(), second, func(ctx context.Context, s Snapshot) error {
			time.Sleep(time.Millisecond) // its watcher has asked
			second.next.Store(&ends)
			return second.sync(ctx, s)
		}))
		synctest.Wait()
		require.NoError(t, <-ended)
		assert.Equal(t, []any{"asked"}, first.updates())
		assert.Equal(t, []any{"held"}, second.updates())
	})
}

// It may have found values in its Synchronize that the runtime has failed since.
func TestL26_SuccessorReceivesWhatWasRefusedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, first := newFixture(t, takesBack, handsOver), newPlugin("10-a")
		next, joined := slowSuccessor(t, f, first, func() {
			require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
		})
		require.NoError(t, f.Refused(update("UpdateContainer:p1/c1")))
		assert.Equal(t, []any{"asked", "held"}, first.updates())
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, []any{"held"}, next.updates())
	})
}

// The runtime fails an update to which all have agreed.
func TestL26_UpdateThatTheRuntimeFailsIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newPlugin("10-a"), newPlugin("20-b")
		f := newUpdated(t, a, b)
		require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
		synctest.Wait()
		assert.Equal(t, []any{"asked"}, a.updates(), "the runtime has not failed it")

		require.NoError(t, f.Refused(update("UpdateContainer:p1/c1")))
		synctest.Wait()
		assert.Equal(t, []any{"asked", "held"}, a.updates())
		assert.Equal(t, []any{"asked", "held"}, b.updates())
		require.Error(t, f.Refused(event("StartContainer:p1/c1")))
	})
}

// No caller waits for what holds, and its reply goes to no caller.
func TestL26_NoCallerWaitsForWhatHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var unheard []any
		f := newFixture(t, takesBack, func(o *Options) {
			o.Unheard = func(_ Connection, ev Event, reply any) {
				assert.True(t, ev.Late)
				unheard = append(unheard, reply)
			}
		})
		a := newPlugin("10-a")
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Late {
				time.Sleep(requestTimeout / 2)
				return "reply", nil
			}
			return nil, nil
		}
		f.joined(a)
		f.did("RunPodSandbox:p1")
		start := time.Now()
		f.fails("UpdatePodSandbox:p1")
		assert.Zero(t, time.Since(start))
		time.Sleep(requestTimeout)
		synctest.Wait()
		assert.Equal(t, []any{"reply"}, unheard)
		assert.Equal(t, "10-a answered, 10-a answered late", f.journal.outcomes(UpdatePodSandbox))
	})
}

// Nothing follows the end of a container (L3), and what holds does not delay it.
func TestL26_EndOfAContainerEndsWhatHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newPlugin("10-a")
		busy := make(chan struct{})
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == PostStartContainer {
				<-busy
			}
			return nil, nil
		}
		f := newUpdated(t, a)
		require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
		require.NoError(t, f.Ask(t.Context(), update("UpdatePodSandbox:p1"), nil))
		started := make(chan error)
		go func() { started <- f.ask(t.Context(), "PostStartContainer:p1/c1") }()
		synctest.Wait()
		require.NoError(t, f.Refused(update("UpdateContainer:p1/c1")))
		require.NoError(t, f.Refused(update("UpdatePodSandbox:p1")))
		stopped := make(chan error)
		go func() { stopped <- f.end("StopContainer:p1/c1") }()
		synctest.Wait()
		close(busy)
		require.NoError(t, <-started)
		require.NoError(t, <-stopped)
		l := f.names["10-a"]
		l.tell(l.session, update("UpdateContainer:p1/c1")) // the end of the update has met that of the container
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1 UpdateContainer:p1/c1 UpdatePodSandbox:p1 "+
			"PostStartContainer:p1/c1 UpdatePodSandbox:p1 StopContainer:p1/c1", a.received())
	})
}

// The container or its pod ends while the runtime updates it.
func TestL26_EndOfAnObjectEndsItsUpdates(t *testing.T) {
	for _, end := range []string{"StopContainer:p1/c1", "StopPodSandbox:p1"} {
		synctest.Test(t, func(t *testing.T) {
			a := newPlugin("10-a")
			f := newUpdated(t, a)
			require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
			require.NoError(t, f.end(end))
			assert.Empty(t, f.updates.underWay)
			require.NoError(t, f.Refused(update("UpdateContainer:p1/c1")))
			synctest.Wait()
			assert.Equal(t, []any{"asked"}, a.updates())
		})
	}
}
