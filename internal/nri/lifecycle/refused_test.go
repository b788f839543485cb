// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// holds makes requests that say what holds.
func holds(o *Options) {
	o.Holds = func(Event) any { return "held" }
}

// newUpdated returns a fixture with plugins that have received a pod and a container. It keeps the
// lanes of plugins that disconnect.
func newUpdated(t *testing.T, plugins ...*plugin) *fixture {
	t.Helper()
	f := newFixture(t, holds, func(o *Options) { o.MissedEvents = newMemory() })
	f.joined(plugins...)
	require.NoError(t, f.ask(t.Context(), "RunPodSandbox:p1"))
	require.NoError(t, f.ask(t.Context(), "CreateContainer:p1/c1"))
	return f
}

// updates returns the requests of the updates that a plugin has received.
func (p *plugin) updates() (all []any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.history {
		if r.Kind.Updates() {
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

// However often an update is refused while a plugin hangs, the plugin receives what holds once, and
// has it from when it receives it.
func TestL26_RetriesFillNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newPlugin("10-a")
		a.keepConnected = true
		busy := make(chan struct{})
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == PostStartContainer {
				<-busy
			}
			return nil, nil
		}
		now := "first"
		f := newFixture(t, func(o *Options) { o.Holds = func(Event) any { return now } })
		f.joined(a)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "PostStartContainer:p1/c1")
		for range 10 {
			require.NoError(t, f.Refused(update("UpdateContainer:p1/c1")))
			require.NoError(t, f.Refused(update("UpdatePodSandbox:p1")))
		}
		now = "last"
		close(busy)
		synctest.Wait()
		assert.Equal(t, []any{"last", "last"}, a.updates())
	})
}

// A runtime that does not say what holds sends nothing.
func TestL26_RuntimeMayNotSayWhatHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, change := range map[string]func(*Options){
			"never":                     func(*Options) {},
			"of an object that is gone": func(o *Options) { o.Holds = func(Event) any { return nil } },
		} {
			f := newFixture(t, change)
			a := newPlugin("10-a")
			f.joined(a)
			f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
			require.NoError(t, f.Refused(update("UpdateContainer:p1/c1")))
			synctest.Wait()
			assert.Empty(t, a.updates(), name)
			f.did("PostCreateContainer:p1/c1")
		}
	})
}

// A plugin leaves while the runtime says what holds. Its next connection receives it.
func TestL26_PluginLeavesWhileTheRuntimeSaysWhatHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, again := newPlugin("10-a"), newPlugin("10-a")
		looks := make(chan struct{})
		f := newFixture(t, func(o *Options) {
			o.MissedEvents = newMemory()
			o.Holds = func(Event) any { <-looks; return "held" }
		})
		f.joined(a)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
		sent := make(chan error)
		go func() { sent <- f.Refused(update("UpdateContainer:p1/c1")) }()
		synctest.Wait()
		a.Close()
		synctest.Wait()
		close(looks)
		require.NoError(t, <-sent)
		f.joined(again)
		synctest.Wait()
		assert.Empty(t, a.updates())
		assert.Equal(t, []any{"held"}, again.updates())
		require.NoError(t, f.end("StopContainer:p1/c1"))
		assert.Equal(t, "Synchronize(p1 p1/c1) UpdateContainer:p1/c1 StopContainer:p1/c1", again.received())
	})
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
		f, first := newFixture(t, holds, handsOver), newPlugin("10-a")
		next, joined := slowSuccessor(t, f, first, func() {})
		for range 2 {
			require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
		}
		require.NoError(t, f.Ask(t.Context(), update("UpdatePodSandbox:p1"), nil))
		assert.Equal(t, []any{"asked", "asked", "asked"}, first.updates())
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, []any{"held", "held"}, next.updates())
	})
}

// It may have found values in its Synchronize that the runtime has failed since.
func TestL26_SuccessorReceivesWhatWasRefusedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, first := newFixture(t, holds, handsOver), newPlugin("10-a")
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
		f := newFixture(t, holds, func(o *Options) {
			o.Unheard = func(_ Connection, ev Event, reply any) {
				assert.True(t, ev.Late)
				unheard = append(unheard, reply)
			}
		})
		a := newPlugin("10-a")
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Request == "held" {
				time.Sleep(requestTimeout / 2)
				return "reply", nil
			}
			return nil, nil
		}
		f.joined(a)
		require.NoError(t, f.ask(t.Context(), "RunPodSandbox:p1"))
		start := time.Now()
		require.NoError(t, f.Refused(update("UpdatePodSandbox:p1")))
		assert.Zero(t, time.Since(start))
		time.Sleep(requestTimeout)
		synctest.Wait()
		assert.Equal(t, []any{"reply"}, unheard)
		assert.Equal(t, "10-a answered late", f.journal.outcomes(UpdatePodSandbox))
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
		require.NoError(t, f.Refused(update("UpdateContainer:p1/c1")))
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1 PostStartContainer:p1/c1 "+
			"UpdatePodSandbox:p1 StopContainer:p1/c1", a.received())
	})
}
