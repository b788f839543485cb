// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newHanding is a fixture in which a second connection of a name succeeds the first.
func newHanding(t *testing.T, change ...func(*Options)) *fixture {
	return newFixture(t, append(change, func(o *Options) {
		o.HandOver = func(Connection) bool { return true }
	})...)
}

// comes connects a plugin and returns the result of Join.
func (f *fixture) comes(p *plugin) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f.join(p) }()
	synctest.Wait()
	return done
}

// asks sends an event and returns its result.
func (f *fixture) asks(ev string) <-chan error {
	done := f.asking(ev)
	synctest.Wait()
	return done
}

// ends tears down and returns the result.
func (f *fixture) ends(names ...string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f.end(names...) }()
	synctest.Wait()
	return done
}

// untilAllowed has a plugin hang in Synchronize until the channel is closed.
func (p *plugin) untilAllowed() chan struct{} {
	may := make(chan struct{})
	p.synchronize = func(ctx context.Context, _ Snapshot) error {
		select {
		case <-may:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return may
}

// syncs has a plugin take some time for Synchronize.
func (p *plugin) syncs(d time.Duration) *plugin {
	p.synchronize = func(context.Context, Snapshot) error { p.stall(d); return nil }
	return p
}

// takes has a plugin take some time for events of the given kind.
func (p *plugin) takes(d time.Duration, kind Kind) *plugin {
	p.handle = func(_ context.Context, ev Event) (any, error) {
		if ev.Kind == kind {
			p.stall(d)
		}
		return nil, nil
	}
	return p
}

func TestL19_EventsGoToTheSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "CreateContainer:p1/c2", "RunPodSandbox:p2", "RunPodSandbox:p3")
		f.end("StopContainer:p1/c2")
		f.end("StopPodSandbox:p2")
		f.listed = Snapshot{Pods: pods("p1", "p2", "p3"), Containers: []Object{{Pod: "p1", Container: "c1"}, {Pod: "p1", Container: "c2"}}}
		received := first.received()
		f.joined(next)
		synctest.Wait()
		assert.True(t, first.isClosed(), "the engine has closed it")
		require.ErrorIs(t, f.journal.reason("10-a"), ErrSucceeded)
		f.did("RunPodSandbox:p4")
		f.end("RemoveContainer:p1/c2")
		f.end("StopContainer:p1/c1", "StopPodSandbox:p1", "RemovePodSandbox:p1")
		f.end("RemovePodSandbox:p2")
		assert.Equal(t, received, first.received())
		assert.Equal(t, "Synchronize(p1 p2! p3 p1/c1) RunPodSandbox:p4 RemoveContainer:p1/c2 "+
			"StopContainer:p1/c1 RemoveContainer:p1/c1 StopPodSandbox:p1 RemovePodSandbox:p1 RemovePodSandbox:p2",
			strings.Replace(next.received(), "StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1", "StopContainer:p1/c1 RemoveContainer:p1/c1 StopPodSandbox:p1", 1))
		assert.Len(t, f.Status().Connections, 1)
	})
}

// Events that come while the successor is synchronized wait, and go to the successor.
func TestL19_EventsMeanwhileWaitForTheSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		f.listed = Snapshot{Pods: pods("p1", "p2")}
		received, may := first.received(), next.untilAllowed()
		joined := f.comes(next)
		began := time.Now()
		run, stop, update := f.asks("RunPodSandbox:p3"), f.ends("StopPodSandbox:p1"), f.asks("UpdatePodSandbox:p2")
		time.Sleep(requestTimeout / 4)
		close(may)
		require.NoError(t, <-joined)
		require.NoError(t, <-run)
		require.NoError(t, <-stop)
		require.NoError(t, <-update)
		assert.Equal(t, requestTimeout/4, time.Since(began))
		assert.Equal(t, received, first.received())
		assert.Equal(t, "Synchronize(p1 p2) RunPodSandbox:p3 StopPodSandbox:p1 UpdatePodSandbox:p2", next.received())
	})
}

// A stop waits for the successor as for any plugin: the pod's network stands until it has
// answered.
func TestL19_StopWaitsForTheSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a").takes(time.Second, StopPodSandbox)
		f.joined(first)
		f.did("RunPodSandbox:p1")
		f.listed = Snapshot{Pods: pods("p1")}
		may := next.untilAllowed()
		f.comes(next)
		began := time.Now()
		stop := f.ends("StopPodSandbox:p1")
		close(may)
		require.NoError(t, <-stop)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

// The same for a pod that only the successor has received: it was in creation when the successor was
// synchronized, and is undone before any plugin is asked for it.
func TestL19_EndOfAPodThatOnlyTheSuccessorHasWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a").takes(time.Second, StopPodSandbox)
		f.joined(first)
		f.listed = Snapshot{Pods: pods("p1")}
		may := next.untilAllowed()
		f.comes(next)
		began := time.Now()
		stop := f.ends("StopPodSandbox:p1", "RemovePodSandbox:p1")
		close(may)
		require.NoError(t, <-stop)
		assert.Equal(t, time.Second, time.Since(began))
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1", next.received())
	})
}

// The first finishes its request, and receives nothing after it.
func TestL19_FirstFinishesItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a").takes(time.Second, StopContainer), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
		stop := f.ends("StopContainer:p1/c1", "StopPodSandbox:p1")
		joined := f.comes(next)
		assert.Empty(t, next.received(), "not before the first has finished")
		require.NoError(t, <-joined)
		require.NoError(t, <-stop)
		assert.NotContains(t, first.received(), "StopPodSandbox")
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1", next.received())
	})
}

// A runtime whose list takes long delays other events only while the line stands. Then the first
// goes on, and its successor receives late what the first receives meanwhile.
func TestL19_SlowListBlocksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mayList := make(chan struct{})
		var listed Snapshot
		lists := 0
		f := newHanding(t, func(o *Options) {
			o.Begun = func(_ Event, pod, value any) any { return fmt.Sprint(pod, " ", value) }
			o.List = func(context.Context) (Snapshot, error) {
				s := listed
				if lists++; lists == 2 {
					<-mayList
				}
				return s, nil
			}
		})
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2", "CreateContainer:p1/c0")
		listed = Snapshot{Pods: pods("p1", "p2"), Containers: []Object{{Pod: "p1", Container: "c0"}}}
		joined := f.comes(next)
		began := time.Now()
		f.did("CreateContainer:p1/c1", "RunPodSandbox:p3", "RunPodSandbox:p4")
		assert.Equal(t, requestTimeout/2, time.Since(began))
		f.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		f.end("StopPodSandbox:p4")
		f.end("StopContainer:p1/c0")
		listed = Snapshot{
			Pods:       []Object{{Pod: "p1", Value: "pod 1"}, {Pod: "p3"}, {Pod: "p4", Stopped: true}},
			Containers: []Object{{Pod: "p1", Container: "c1", Value: "container 1"}},
			Exited:     []Object{{Pod: "p1", Container: "c0"}},
		}
		close(mayList)
		require.NoError(t, <-joined)
		synctest.Wait()
		require.Equal(t, "Synchronize(p1 p2 p1/c0) RunPodSandbox:p3 CreateContainer:p1/c1 StopContainer:p1/c0 StopPodSandbox:p2 RemovePodSandbox:p2", next.received())
		assert.Equal(t, "pod 1 container 1", next.history[2].Request)
		f.end("RemovePodSandbox:p4", "RemoveContainer:p1/c0")
		assert.Contains(t, next.received(), "RemovePodSandbox:p2 RemovePodSandbox:p4 RemoveContainer:p1/c0")
	})
}

// If a successor fails to synchronize, nothing changes for the first.
func TestL19_SuccessorThatFailsChangesNothing(t *testing.T) {
	for how, synchronize := range map[string]func(*plugin) func(context.Context, Snapshot) error{
		"rejects": func(*plugin) func(context.Context, Snapshot) error {
			return func(context.Context, Snapshot) error { time.Sleep(time.Second); return errRejected }
		},
		"closes": func(p *plugin) func(context.Context, Snapshot) error {
			return func(context.Context, Snapshot) error { time.Sleep(time.Second); p.Close(); return ErrClosed }
		},
		"hangs": func(p *plugin) func(context.Context, Snapshot) error {
			return func(context.Context, Snapshot) error { <-p.closed; return ErrClosed }
		},
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newHanding(t)
				first, next := newPlugin("10-a"), newPlugin("10-a")
				f.joined(first)
				f.did("RunPodSandbox:p1")
				f.listed = Snapshot{Pods: pods("p1")}
				next.synchronize = synchronize(next)
				joined := f.comes(next)
				began := time.Now()
				run, stop := f.asks("RunPodSandbox:p2"), f.ends("StopPodSandbox:p1")
				require.NoError(t, <-run)
				require.NoError(t, <-stop)
				assert.LessOrEqual(t, time.Since(began), requestTimeout/2)
				require.Error(t, <-joined)
				synctest.Wait()
				f.did("RunPodSandbox:p3")
				assert.True(t, next.isClosed())
				assert.Equal(t, "Synchronize() RunPodSandbox:p1 RunPodSandbox:p2 StopPodSandbox:p1 RunPodSandbox:p3", first.received())
				assert.Equal(t, "Synchronize(p1)", next.received())
			})
		})
	}
}

// Successors that hang again and again cost one timeout (L22).
func TestL19_SuccessorsThatFailCostOneTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first := newPlugin("10-a")
		f.joined(first)
		var waited time.Duration
		for i := range 5 {
			next := newPlugin("10-a")
			next.untilAllowed()
			joined := f.comes(next)
			began := time.Now()
			f.did(fmt.Sprintf("RunPodSandbox:p%d", i))
			waited += time.Since(began)
			require.Error(t, <-joined)
		}
		assert.Equal(t, requestTimeout/2, waited)
		f.joined(newPlugin("10-a"))
		synctest.Wait()
		assert.True(t, first.isClosed())
	})
}

// If many connections register, one after the other, the newest serves in the end.
func TestL19_NewestWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		f.joined(newPlugin("10-a"))
		slow := newPlugin("10-a")
		may := slow.untilAllowed()
		slowJoined := f.comes(slow)
		older, newest := newPlugin("10-a"), newPlugin("10-a")
		olderJoined := f.comes(older)
		newestJoined := f.comes(newest)
		require.ErrorIs(t, <-olderJoined, errNewer)
		close(may)
		require.NoError(t, <-slowJoined)
		require.NoError(t, <-newestJoined)
		synctest.Wait()
		assert.True(t, slow.isClosed() && older.isClosed())
		assert.Empty(t, older.received())
		f.did("RunPodSandbox:p1")
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", newest.received())
	})
}

// A successor with more subscriptions receives the events that came while the line stood.
func TestL19_SuccessorWantsMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		first.wants = masks["ends"]
		f.joined(first)
		may := next.untilAllowed()
		joined := f.comes(next)
		f.did("RunPodSandbox:p1")
		close(may)
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", next.received())
	})
}

// Other names, and names that are not handed over, are served beside each other.
func TestL19_DuplicatesAndOtherNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.HandOver = func(c Connection) bool { return c.Name() != "10-duplicate" } })
		all := []*plugin{newPlugin("10-duplicate"), newPlugin("10-duplicate"), newPlugin("10-a"), newPlugin("20-a")}
		f.joined(all...)
		f.did("RunPodSandbox:p1")
		for _, p := range all {
			assert.Equal(t, "Synchronize() RunPodSandbox:p1", p.received())
		}
	})
}

// A plugin that was replaced and starts again waits until its successor disconnects, so that the
// two do not replace each other by turns.
func TestL19_ReturningPredecessorWaitsForItsSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origins := make(map[Connection]string)
		var waits []Connection
		f := newHanding(t, func(o *Options) {
			o.Origin = func(c Connection) string { return origins[c] }
			o.Waits = func(c Connection) { waits = append(waits, c) }
		})
		first, next, again, third, gone := newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a")
		origins[first], origins[next], origins[again], origins[third], origins[gone] = "old", "new", "old", "newer", "new"
		f.joined(first, next)
		older := newPlugin("10-a")
		origins[older] = "old"
		dropped := f.comes(older)
		joined := f.comes(again)
		require.ErrorIs(t, <-dropped, errNewer, "one connection waits for each origin")
		f.joined(third)
		f.did("RunPodSandbox:p1")
		assert.Empty(t, again.received())
		left := f.comes(gone)
		gone.Close()
		require.Error(t, <-left)
		assert.Empty(t, f.failed, "no connection has failed")
		third.Close()
		require.NoError(t, <-joined)
		f.did("RunPodSandbox:p2")
		assert.Equal(t, "Synchronize() RunPodSandbox:p2", again.received())
		assert.Equal(t, []Connection{older, again, gone}, waits)
	})
}

// If the runtime is killed in the middle of a roll-out, it does not know which plugin is the
// newer one. If the older one registers last, it serves until it disconnects, and then the newer
// one does.
func TestL19_BothReturnAfterAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origins := make(map[Connection]string)
		o := &remembering{memory: newMemory(), change: func(opts *Options) {
			opts.HandOver = func(Connection) bool { return true }
			opts.Origin = func(c Connection) string { return origins[c] }
		}}
		from := func(pod string) *plugin {
			p := newPlugin("10-a")
			origins[p] = pod
			return p
		}
		o.start(t)
		o.joined(from("old"), from("new"))
		o.did("RunPodSandbox:p1")
		o.kill()
		o.start(t, "p1")
		older := from("old")
		o.joined(from("new"), older)
		newer := from("new")
		joined := o.comes(newer)
		require.NoError(t, o.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		o.did("RunPodSandbox:p2")
		o.lists("p2")
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1 RunPodSandbox:p2", older.received())
		assert.Empty(t, newer.received())
		older.Close()
		require.NoError(t, <-joined)
		require.NoError(t, o.end("StopPodSandbox:p2"))
		assert.Equal(t, "Synchronize(p2) StopPodSandbox:p2", newer.received())
	})
}

// A container for which the first was asked is made after the runtime has listed for its
// successor, while the line stands.
func TestL19_ContainerIsMadeWhileTheLineStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.listed = Snapshot{Pods: pods("p1")}
		may := next.untilAllowed()
		joined := f.comes(next)
		f.listed.Containers = []Object{{Pod: "p1", Container: "c1"}}
		made := f.asks("PostCreateContainer:p1/c1")
		close(may)
		require.NoError(t, <-joined)
		require.NoError(t, <-made)
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1", first.received())
		assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 PostCreateContainer:p1/c1", next.received())
	})
}

// A plugin that opens a second connection of its own succeeds itself.
func TestL19_PluginSucceedsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, func(o *Options) { o.Origin = func(Connection) string { return "one" } })
		f.joined(newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a"))
		assert.Len(t, f.Status().Connections, 1)
	})
}

func TestL19_CloseReleasesAllCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next, last := newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		next.untilAllowed()
		joined, waits := f.comes(next), f.comes(last)
		run := f.asks("RunPodSandbox:p1")
		s := f.Status().Connections
		require.Len(t, s, 3)
		assert.Equal(t, []bool{false, true, true}, []bool{s[0].TakesOver, s[1].TakesOver, s[2].TakesOver})
		f.Close()
		require.Error(t, <-joined)
		require.Error(t, <-waits)
		<-run
		assert.True(t, errors.Is(f.join(newPlugin("10-a")), ErrClosed))
	})
}
