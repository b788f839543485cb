// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Faults that a review found in lanes that many connections have, one after the other.

// slowSync is a store that takes its time until it is safe, like a file.
type slowSync struct{ MissedEvents }

func (s slowSync) Sync() { time.Sleep(5 * time.Millisecond); s.MissedEvents.Sync() }

// Programs of one name start again whenever they are replaced, and take over by turns. Each
// serves the requests that waited for it, before the line stands for the next one.
func TestL22_HealthySuccessorsByTurnsBlockNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, func(o *Options) { o.MissedEvents = slowSync{newMemory()} })
		f.joined(newPlugin("10-a"))
		ctx, stay := context.WithCancel(t.Context())
		var surge sync.WaitGroup
		for range 3 {
			surge.Go(func() { // some programs of one name, started again when they are replaced
				comesBack(ctx, f, func() *plugin {
					p := newPlugin("10-a")
					p.synchronize = func(ctx context.Context, _ Snapshot) error { return pause(ctx, 500*time.Millisecond) }
					return p
				})
			})
		}
		time.Sleep(time.Second)
		start := time.Now()
		patience, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() { _ = f.ask(patience, fmt.Sprintf("RunPodSandbox:p%d", i)) })
		}
		all.Wait()
		assert.LessOrEqual(t, time.Since(start), 4*requestTimeout)
		stay()
		f.Close()
		surge.Wait()
	})
}

// Pods that wait for a first that hangs do not wait for its successors, which hang, too.
func TestL22_SuccessorsThatHangBlockNoPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, func(o *Options) { o.MissedEvents = slowSync{newMemory()} })
		newOne := func() *plugin {
			p := newPlugin("10-a").hang(RunPodSandbox)
			p.synchronize = func(ctx context.Context, _ Snapshot) error { return pause(ctx, requestTimeout*3/5) }
			return p
		}
		f.joined(newOne())
		ctx, stay := context.WithCancel(t.Context())
		var surge sync.WaitGroup
		for range 3 {
			surge.Go(func() {
				keepsComing(ctx, f, requestTimeout/10, newOne)
			})
		}
		synctest.Wait()
		time.Sleep(requestTimeout * 3 / 5)
		var mu sync.Mutex
		var worst time.Duration
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				start := time.Now()
				_ = f.ask(t.Context(), fmt.Sprintf("RunPodSandbox:p%d", i))
				mu.Lock()
				defer mu.Unlock()
				worst = max(worst, time.Since(start))
			})
		}
		all.Wait()
		assert.LessOrEqual(t, worst, 4*requestTimeout)
		stay()
		f.Close()
		surge.Wait()
	})
}

// The failure policy holds for requests that wait for a first that is dropped, also if a
// successor is connected: no adjustment passes without validation.
func TestL16_PolicyHoldsAlthoughASuccessorWaits(t *testing.T) {
	for _, successor := range []bool{false, true} {
		for _, ev := range []string{"ValidateContainerAdjustment:p1/c1", "RunPodSandbox:p2"} {
			t.Run(fmt.Sprint(ev, " successor=", successor), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newHanding(t)
					first, next := newPlugin("10-a").hang(UpdatePodSandbox), newPlugin("10-a")
					first.failRequest = true
					f.joined(first)
					f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
					f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
					hung := f.asks("UpdatePodSandbox:p1")
					asked := f.asks(ev) // waits behind the update
					if successor {
						f.comes(next)
					}
					require.Error(t, <-hung)
					err := <-asked
					synctest.Wait()
					assert.Error(t, err, "no plugin has validated it, and the policy is to fail")
				})
			})
		}
	}
}

// Likewise if the successor closes in the instant in which it has taken over: a request that
// waited for a connected plugin does not skip it.
func TestL16_PolicyHoldsAlthoughTheSuccessorCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first := newPlugin("10-a")
		first.failRequest = true
		f.joined(first)
		s, err := f.enroll(newPlugin("10-a"))
		require.NoError(t, err)
		require.NoError(t, f.comeIn(t.Context(), s))
		_, err = s.pauseLine(t.Context())
		require.NoError(t, err)
		asked := f.asks("RunPodSandbox:p2") // waits for the successor
		f.takeOver(s)
		f.drop(s, ErrClosed)
		require.ErrorIs(t, <-asked, ErrClosed)
	})
}

// A plugin comes back after the store has forgotten its name. It receives the ends of the objects
// that it then receives.
func TestL18_ForgottenNameJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:gone", "RunPodSandbox:p1")
		o.left(a)
		o.kill()
		o.startWithoutList(t)
		o.memory.Forget("10-a") // its time to live is over
		o.lists("p1")           // pod "gone", which it knew, has gone
		a = o.again(a)
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		assert.Contains(t, a.received(), "StopPodSandbox:p1 RemovePodSandbox:p1")
	})
}

// A connected plugin keeps what it knows, too, if the store forgets its name.
func TestL18_StoreForgetsAConnectedName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a, thaw := frozen("10-a", UpdatePodSandbox)
		o.joined(a)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2", "UpdatePodSandbox:p1")
		o.memory.Forget("10-a")
		o.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		thaw()
		synctest.Wait()
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		assert.Contains(t, a.received(), "RemovePodSandbox:p1")
	})
}

// A first is dropped because its line is full. Its successor is not dropped for that line.
func TestL19_SuccessorInheritsAFullLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, func(o *Options) { o.BacklogLimit = 3 })
		first, _ := frozen("10-a", UpdatePodSandbox)
		next := newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p0", "RunPodSandbox:p1", "RunPodSandbox:p2", "RunPodSandbox:p3", "RunPodSandbox:p4", "UpdatePodSandbox:p0")
		for i := 1; i <= 3; i++ {
			f.end(fmt.Sprintf("StopPodSandbox:p%d", i), fmt.Sprintf("RemovePodSandbox:p%d", i))
		}
		f.listed = Snapshot{Pods: pods("p0", "p4")}
		may := next.untilAllowed()
		joined := f.comes(next)
		require.NotEmpty(t, next.received())
		f.ends("StopPodSandbox:p4")
		close(may)
		assert.NoError(t, <-joined)
		synctest.Wait()
		assert.Contains(t, next.received(), "RemovePodSandbox:p1")
	})
}

// A stop waits for a successor that subscribed to it, though the first did not.
func TestL10_StopWaitsForASuccessorThatWantsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var unheard, applied int
		f := newHanding(t, func(o *Options) { o.Unheard = func(Connection, Event, any) { unheard++ } })
		first, next := newPlugin("10-a"), newPlugin("10-a")
		first.wants = func(k Kind) bool { return k == RunPodSandbox }
		next.handle = func(_ context.Context, ev Event) (any, error) { return "reply", nil }
		f.joined(first)
		f.did("RunPodSandbox:p1")
		f.listed = Snapshot{Pods: pods("p1")}
		may := next.untilAllowed()
		joined := f.comes(next)
		began := time.Now()
		done := make(chan error, 1)
		var waited time.Duration
		go func() {
			err := f.Teardown(t.Context(), events([]string{"StopPodSandbox:p1"}), func(Connection, Event, any) { applied++ })
			waited = time.Since(began)
			done <- err
		}()
		time.Sleep(requestTimeout / 4)
		close(may)
		require.NoError(t, <-joined)
		<-done
		synctest.Wait()
		require.Equal(t, "Synchronize(p1) StopPodSandbox:p1", next.received())
		assert.NotZero(t, waited, "the stop has not waited for the successor")
		assert.Equal(t, 1, unheard+applied, "no caller received the reply")
	})
}

// A stored end to which a successor does not subscribe is settled: the store no longer has it.
func TestL18_EndThatASuccessorDoesNotWantIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRememberingHanding(t)
		first, _ := frozen("10-a", UpdatePodSandbox)
		next := newPlugin("10-a")
		next.wants = func(k Kind) bool { return k != StopPodSandbox }
		o.joined(first)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2", "UpdatePodSandbox:p1")
		o.end("StopPodSandbox:p2", "RemovePodSandbox:p2") // stored
		require.Equal(t, 2, o.missed("10-a"))
		o.lists("p1")
		o.joined(next)
		synctest.Wait()
		assert.Zero(t, o.missed("10-a"), "after the successor")
		third := newPlugin("10-a")
		o.joined(third)
		synctest.Wait()
		assert.Zero(t, o.missed("10-a"), "after the third")
		o.left(third)
		fourth := newPlugin("10-a")
		o.joined(fourth)
		synctest.Wait()
		assert.Zero(t, o.missed("10-a"), "after it came back")
		o.left(fourth)
		fifth := newPlugin("10-a")
		o.joined(fifth)
		synctest.Wait()
		assert.Zero(t, o.missed("10-a"), "and again")
	})
}

// A pod ends behind an overdue plugin, and another one begins and ends under its id. The plugin's
// ledger has neither.
func TestL2_BothLivesOfAnIdEndBehindAnOverduePlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, thaw := frozen("10-a", UpdatePodSandbox)
		a.wants = func(k Kind) bool { return k == UpdatePodSandbox || k.Final() }
		f.joined(a)
		f.did("RunPodSandbox:p0", "RunPodSandbox:p1", "UpdatePodSandbox:p0")
		f.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		f.did("RunPodSandbox:p1")
		f.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		thaw()
		synctest.Wait()
		s := f.Status().Connections[0]
		assert.Equal(t, 1, s.Pods, "it knows p0 alone")
	})
}

// A container stops while a successor takes its time. It has stopped for the successor, and was
// not removed.
func TestL19_ContainerThatStoppedIsNotRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, _ := frozen("10-a", UpdatePodSandbox)
		next := newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "UpdatePodSandbox:p1")
		f.did("CreateContainer:p1/c1") // the first misses it
		f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
		may := next.untilAllowed()
		joined := f.comes(next)
		time.Sleep(requestTimeout)
		f.end("StopContainer:p1/c1") // the runtime still lists it as running
		close(may)
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.NotContains(t, next.received(), "RemoveContainer")
	})
}

// A connection that waits for its turn leaves nothing if it closes in the moment in which the
// turn comes.
func TestL19_ConnectionThatWaitedLeavesNothing(t *testing.T) {
	stale := 0
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			f := newHanding(t)
			first, next, w := newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a")
			f.joined(first)
			next.untilAllowed()
			a, b := f.comes(next), f.comes(w)
			f.mu.Lock()
			next.Close()
			for range 100 {
				runtime.Gosched()
			}
			w.Close()
			for range 100 {
				runtime.Gosched()
			}
			f.mu.Unlock()
			<-a
			<-b
			synctest.Wait()
			f.mu.Lock()
			stale += len(f.names["10-a"].waiters)
			f.mu.Unlock()
		})
	}
	assert.Zero(t, stale, "closed connections that still wait")
}

// The runtime was killed after a pod had stopped, and before its plugin received the Stop. The
// Stop waits, also for a successor: nothing begins in the pod meanwhile (L11).
func TestL11_NothingBeginsInAPodWhoseStopWaitsForASuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p0", "RunPodSandbox:p1", "RunPodSandbox:p2")
		o.left(a)
		for _, pod := range []string{"p0", "p1", "p2"} {
			o.end("StopPodSandbox:" + pod)
		}
		o.memory.Sync()
		o.kill()
		o.change = func(opts *Options) { opts.HandOver = func(Connection) bool { return true } }
		o.start(t, "p0!", "p1!", "p2!")
		first, _ := frozen("10-a", StopPodSandbox)
		o.joined(first)
		time.Sleep(2 * syncTimeout) // missed events take turns with new ones
		next := newPlugin("10-a").takes(time.Second, StopPodSandbox)
		o.joined(next)
		require.ErrorIs(t, o.ask(t.Context(), "CreateContainer:p2/c1"), ErrStopped)
		time.Sleep(3 * time.Second)
		assert.Equal(t, "Synchronize(p0 p1 p2) StopPodSandbox:p0 StopPodSandbox:p1 StopPodSandbox:p2", next.received())
	})
}

// joinsAndCloses connects a plugin that answers Synchronize and closes, and whose watcher notices
// the close afterwards.
func (f *fixture) joinsAndCloses(u *unnoticed) error {
	u.synchronize = func(context.Context, Snapshot) error {
		time.Sleep(time.Millisecond) // the watcher watches
		u.Close()
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- f.Join(f.t.Context(), u, u.sync) }()
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	close(u.notice)
	synctest.Wait()
	return <-done
}

// A successor answers Synchronize and closes, before the engine notices. The first goes on as if
// it had had no successor: it receives nothing of objects that only the successor received.
func TestL19_SuccessorThatClosesAfterSynchronizeChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first := newPlugin("10-a")
		next := newUnnoticed("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.listed = Snapshot{Pods: pods("p1", "p2"), Containers: []Object{{Pod: "p1", Container: "c1"}, {Pod: "p2", Container: "c2"}}}
		assert.Error(t, f.joinsAndCloses(next))
		f.did("UpdateContainer:p2/c2", "UpdateContainer:p1/c1")
		f.end("StopContainer:p2/c2", "RemoveContainer:p2/c2")
		f.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1 UpdateContainer:p1/c1", first.received())
	})
}

// Likewise for a successor without subscription to ends: the missed ends of the first are kept
// all the same.
func TestL18_SuccessorThatClosesAfterSynchronizeLosesNoEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRememberingHanding(t)
		first := newPlugin("10-a")
		next := newUnnoticed("10-a")
		next.wants = func(k Kind) bool { return !k.Final() }
		o.joined(first)
		o.did("RunPodSandbox:p1")
		o.lists("p1")
		assert.Error(t, o.joinsAndCloses(next))
		o.left(first)
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		o.lists()
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", o.again(first).received())
	})
}

// Objects have ended for a name when its successor does not subscribe to their ends.
func TestL18_SuccessorWithoutEndsKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRememberingHanding(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2", "RunPodSandbox:p3")
		o.left(a)
		for _, id := range []string{"p1", "p2", "p3"} {
			o.end("StopPodSandbox:"+id, "RemovePodSandbox:"+id)
		}
		first, _ := frozen("10-a", StopPodSandbox)
		o.joined(first)
		next, last := newPlugin("10-a"), newPlugin("10-a")
		next.wants = func(k Kind) bool { return !k.Final() }
		time.Sleep(requestTimeout)
		o.joined(next)
		synctest.Wait()
		pods, _ := o.names["10-a"].ledger.Count()
		assert.Zero(t, pods, "pods that the plugin knows, though they have ended")
		o.joined(last)
		o.removeOthers() // as a node does in time
		o.joined(newPlugin("20-b"))
		time.Sleep(vanishes)
		o.joined(newPlugin("20-c"))
		synctest.Wait()
		assert.Equal(t, "Synchronize()", last.received())
	})
}
