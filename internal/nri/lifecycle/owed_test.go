// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// owing is a fixture that keeps what is owed, and can be started again.
type owing struct {
	*fixture
	memory *memory
	change func(*Options)
}

func newOwing(t *testing.T, listed ...string) *owing {
	o := &owing{memory: newMemory()}
	o.start(t, listed...)
	return o
}

// start starts the runtime, with pods and containers that it finds. A pod with an
// exclamation mark has stopped, a container with one has exited.
func (o *owing) start(t *testing.T, listed ...string) {
	o.fixture = newFixture(t, func(opts *Options) {
		opts.Owed = o.memory
		if o.change != nil {
			o.change(opts)
		}
	})
	o.lists(listed...)
	require.NoError(t, o.Recall(t.Context()))
}

// startWithoutList starts the runtime, whose first list fails.
func (o *owing) startWithoutList(t *testing.T) {
	failing := true
	o.fixture = newFixture(t, func(opts *Options) {
		opts.Owed = o.memory
		list := opts.List
		opts.List = func(ctx context.Context) (Snapshot, error) {
			if failing {
				return Snapshot{}, errRefused
			}
			return list(ctx)
		}
	})
	require.ErrorIs(t, o.Recall(t.Context()), errRefused)
	failing = false
}

func (o *owing) lists(listed ...string) {
	o.listed = Snapshot{}
	for _, id := range listed {
		id, over := strings.CutSuffix(id, "!")
		pod, container, _ := strings.Cut(id, "/")
		switch {
		case container == "":
			o.listed.Pods = append(o.listed.Pods, Object{Pod: pod, Stopped: over})
		case over:
			o.listed.Exited = append(o.listed.Exited, Object{Pod: pod, Container: container})
		default:
			o.listed.Containers = append(o.listed.Containers, Object{Pod: pod, Container: container})
		}
	}
}

// kill kills the runtime: what was not synced is lost, and no lane ends in order.
func (o *owing) kill() {
	o.memory.crash()
	kept := o.memory
	o.memory = newMemory()
	o.memory.now, o.memory.saved = kept.copied(kept.now), kept.copied(kept.now)
	o.Close() // to the old memory
}

// left has a plugin go, and waits until that has been seen.
func (o *owing) left(p *plugin) {
	p.Close()
	synctest.Wait()
}

// again is another connection of a plugin, that is brought in.
func (o *owing) again(p *plugin) *plugin {
	o.t.Helper()
	next := newPlugin(p.name)
	next.wants = p.wants
	o.joined(next)
	synctest.Wait()
	return next
}

func (o *owing) owes(name string) int {
	n := 0
	for range o.memory.Owes(name) {
		n++
	}
	return n
}

// drop has the store give up an end, as for want of room.
func (o *owing) drop(name, end string) {
	ev := event(end)
	o.memory.Paid(name, ev.Kind.String(), [2]string{ev.Pod, ev.Container})
	o.memory.mu.Lock()
	defer o.memory.mu.Unlock()
	delete(o.memory.now[name].known, [2]string{ev.Pod, ev.Container})
}

// An end is told that is stored, whichever before it the store has given up.
func TestL18_EndIsToldThoughOneBeforeItWasGivenUp(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := newOwing(t)
			a := newPlugin("10-a")
			o.joined(a)
			o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
			o.left(a)
			o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1", "StopPodSandbox:p1", "RemovePodSandbox:p1")
			o.drop("10-a", "StopContainer:p1/c1")
			o.drop("10-a", "StopPodSandbox:p1")
			o.lists()
			if restart {
				o.memory.Sync()
				o.kill()
				o.start(t)
			}
			told := o.again(a).told()
			assert.Contains(t, told, "RemoveContainer:p1/c1")
			assert.Contains(t, told, "RemovePodSandbox:p1")
			assert.Zero(t, o.owes("10-a"))
		})
	}
}

const lifeAndEnd = "StopContainer:p1/c1 RemoveContainer:p1/c1 StopPodSandbox:p1 RemovePodSandbox:p1"

func TestL18_EndsWhileAwayAreTold(t *testing.T) {
	for _, restart := range []string{"", "killed", "stopped"} {
		t.Run("runtime "+restart, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOwing(t)
				a := newPlugin("10-a")
				o.joined(a)
				o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
				o.left(a)
				o.did("RunPodSandbox:p2")
				o.end("StopContainer:p1/c1")
				switch restart {
				case "killed":
					o.kill()
					o.start(t, "p1", "p1/c1!", "p2")
				case "stopped":
					o.Close()
					o.start(t, "p1", "p1/c1!", "p2")
				}
				o.end("RemoveContainer:p1/c1")
				o.end("StopPodSandbox:p1")
				o.end("RemovePodSandbox:p1")
				o.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
				o.lists()
				a = o.again(a)
				assert.Equal(t, "Synchronize() "+lifeAndEnd, a.told())
				assert.Zero(t, o.owes("10-a"))
				assert.Equal(t, "Synchronize()", o.again(newPlugin("20-b")).told(), "never knew of it")
				a.Close()
				synctest.Wait()
				assert.Equal(t, "Synchronize()", o.again(a).told(), "told twice")
			})
		})
	}
}

// Who was connected when the runtime was killed knows what it finds, and nothing that
// came after.
func TestL18_EndsAfterAKillAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "CreateContainer:p1/c2")
		o.end("StopContainer:p1/c2")
		o.kill()
		o.start(t, "p1", "p1/c1", "p1/c2!")
		o.did("RunPodSandbox:p2")
		o.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		o.end("StopContainer:p1/c1", "StopContainer:p1/c2", "StopPodSandbox:p1", "RemoveContainer:p1/c2")
		o.end("RemoveContainer:p1/c1", "RemovePodSandbox:p1")
		o.lists()
		a = o.again(a)
		assert.Equal(t, "Synchronize() StopContainer:p1/c1 StopContainer:p1/c2 StopPodSandbox:p1 RemoveContainer:p1/c2 RemoveContainer:p1/c1 RemovePodSandbox:p1", a.told())
	})
}

// A pod that had stopped before a kill had its containers stopped before.
func TestL18_ContainersOfAStoppedPodHaveStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.end("StopContainer:p1/c1", "StopPodSandbox:p1")
		o.kill()
		o.start(t, "p1!", "p1/c1!")
		a = o.again(a)
		o.end("RemoveContainer:p1/c1", "RemovePodSandbox:p1")
		assert.Equal(t, "Synchronize(p1!) RemoveContainer:p1/c1 RemovePodSandbox:p1", a.told())
	})
}

// Nor is the Stop of a container lost that came with that of its pod, if the runtime is
// killed before either is safe: it is told before it.
func TestL18_StopsThatWereNotSafeAreToldInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "CreateContainer:p1/c2")
		o.end("StopContainer:p1/c2")
		o.left(a)
		o.end("StopContainer:p1/c1", "StopPodSandbox:p1")
		o.kill()
		o.start(t, "p1!", "p1/c1!", "p1/c2!")
		a = o.again(a)
		assert.Equal(t, "Synchronize(p1!) StopContainer:p1/c1 StopPodSandbox:p1", a.told())
		o.end("RemoveContainer:p1/c1", "RemoveContainer:p1/c2", "RemovePodSandbox:p1")
		assert.Equal(t, "Synchronize(p1!) StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemoveContainer:p1/c2 RemovePodSandbox:p1", a.told())
	})
}

// What a name knew and the runtime does not find any more has ended, as under another
// runtime.
func TestL18_WhatIsGoneAfterARestartHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "RunPodSandbox:p2", "CreateContainer:p2/c2")
		o.left(a)
		o.Close()
		o.start(t, "p2")
		a = o.again(a)
		assert.ElementsMatch(t, strings.Fields("Synchronize(p2) StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1 StopContainer:p2/c2 RemoveContainer:p2/c2"),
			strings.Fields(a.told()))
		a.mu.Lock()
		defer a.mu.Unlock()
		assert.Empty(t, readAgain(a.history, a.wants, []string{"p1", "p1/c1", "p2/c2"}).faults)
	})
}

// A pod whose Stop was not answered is told of it at once, not with its removal.
func TestL18_StopThatWasNotAnsweredIsToldAgain(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := newOwing(t)
			a := newPlugin("10-a").hang(StopPodSandbox)
			o.joined(a)
			o.did("RunPodSandbox:p1")
			require.NoError(t, o.end("StopPodSandbox:p1"))
			synctest.Wait()
			if restart {
				o.kill()
				o.start(t, "p1!")
			}
			o.lists("p1!")
			a = o.again(a)
			assert.Equal(t, "Synchronize(p1!) StopPodSandbox:p1", a.told())
			o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
			assert.Equal(t, "Synchronize(p1!) StopPodSandbox:p1 RemovePodSandbox:p1", a.told())
		})
	}
}

// A pod and a container that began while a plugin hung, and whose first events that does not want,
// are known to its name when it leaves.
func TestL18_WhatBeganBehindOneWhoLeavesIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a").hang(UpdatePodSandbox)
		a.wants = func(k Kind) bool { return k == UpdatePodSandbox || k.Final() }
		o.joined(a)
		o.did("RunPodSandbox:p0")
		hung := o.asks("UpdatePodSandbox:p0")
		o.did("RunPodSandbox:p1", "CreateContainer:p0/c1")
		require.NoError(t, <-hung)
		o.left(a)
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		o.end("StopContainer:p0/c1", "RemoveContainer:p0/c1")
		o.lists("p0")
		assert.Equal(t, "Synchronize(p0) StopPodSandbox:p1 RemovePodSandbox:p1 StopContainer:p0/c1 RemoveContainer:p0/c1", o.again(a).told())
	})
}

// Nor has one heard a Stop during which its connection broke.
func TestL18_StopThatAPluginWentAtIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a").breakAt(StopPodSandbox)
		o.joined(a)
		o.did("RunPodSandbox:p1")
		require.NoError(t, o.end("StopPodSandbox:p1"))
		synctest.Wait()
		o.lists("p1!")
		a = o.again(a)
		assert.Equal(t, "Synchronize(p1!) StopPodSandbox:p1", a.told())
	})
}

// An end at which each connection of a name is lost is not told for ever: the next one serves.
// The first of them had not missed it, also if it is lost before the event is sent.
func TestL22_EndThatBreaksEachConnectionIsGivenUp(t *testing.T) {
	for _, takes := range []time.Duration{0, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			o := newOwing(t)
			breaks := func() *plugin {
				p := newPlugin("10-a").breakAt(StopPodSandbox)
				require.NoError(t, o.Join(t.Context(), &slowToSend{p, takes}, p.sync))
				synctest.Wait()
				return p
			}
			breaks()
			o.did("RunPodSandbox:p1")
			require.NoError(t, o.end("StopPodSandbox:p1"))
			synctest.Wait()
			o.lists("p1!")
			for range tellings {
				assert.Equal(t, "Synchronize(p1!) StopPodSandbox:p1", breaks().told())
			}
			a := o.again(newPlugin("10-a"))
			o.did("RunPodSandbox:p2")
			require.NoError(t, o.end("RemovePodSandbox:p1"))
			assert.Equal(t, "Synchronize(p1!) RunPodSandbox:p2 RemovePodSandbox:p1", a.told())
			assert.Zero(t, o.owes(a.name))
		})
	}
}

// A slowToSend plugin has an event while the connection still sends it.
type slowToSend struct {
	*plugin
	takes time.Duration
}

func (s *slowToSend) Deliver(ctx context.Context, ev Event, due time.Time, answer func(any, error)) {
	s.plugin.Deliver(ctx, ev, due, answer)
	time.Sleep(s.takes)
}

// Nor if its timeout had passed before, whatever error the connection breaks with.
func TestL18_StopThatIsLateAndBreaksIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := &breaking{plugin: newPlugin("10-a")}
		a.keepConnected = true
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == StopPodSandbox {
				time.Sleep(2 * requestTimeout)
				a.broken.Store(true)
				return nil, context.Canceled
			}
			return nil, nil
		}
		require.NoError(t, o.Join(t.Context(), a, a.sync))
		o.did("RunPodSandbox:p1")
		require.NoError(t, o.end("StopPodSandbox:p1"))
		time.Sleep(2 * requestTimeout)
		o.left(a.plugin)
		o.lists("p1!")
		assert.Equal(t, "Synchronize(p1!) StopPodSandbox:p1", o.again(a.plugin).told())
	})
}

// A breaking plugin is closed a moment before its watcher sees that.
type breaking struct {
	*plugin
	broken atomic.Bool
}

func (b *breaking) Closed() <-chan struct{} {
	if !b.broken.Load() {
		return b.plugin.Closed()
	}
	over := make(chan struct{})
	close(over)
	return over
}

// One who stays and has not answered is owed what waits for it, until it answers.
func TestL18_WhatWaitsForAHungPluginOutlivesAKill(t *testing.T) {
	for _, answers := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := newOwing(t)
			a := newPlugin("10-a")
			a.keepConnected = true
			a.handle = func(_ context.Context, ev Event) (any, error) {
				if ev.Same(&Event{Kind: StopContainer, Pod: "p1", Container: "c1"}) {
					a.stall(time.Minute)
				}
				return nil, nil
			}
			o.joined(a)
			o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
			o.end("StopContainer:p1/c1")
			o.end("StopPodSandbox:p1")
			o.end("RemoveContainer:p1/c1", "RemovePodSandbox:p1")
			assert.Equal(t, 4, o.owes("10-a"))
			if answers {
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Zero(t, o.owes("10-a"))
			}
			if answers {
				o.memory.Sync()
			}
			o.kill()
			o.start(t)
			a = o.again(a)
			if answers {
				assert.Equal(t, "Synchronize()", a.told())
			} else {
				assert.Equal(t, "Synchronize() StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1", a.told())
			}
		})
	}
}

// An answer settles an end, also a refusal. A timeout keeps it, and what is behind it.
func TestL18_TimeoutKeepsWhatIsOwed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		o.left(a)
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		o.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		o.joined(newPlugin("10-a").hang(RemovePodSandbox))
		time.Sleep(2 * requestTimeout)
		assert.Equal(t, 3, o.owes("10-a"))
		o.joined(newPlugin("10-a").refuse(RemovePodSandbox))
		synctest.Wait()
		assert.Zero(t, o.owes("10-a"))
	})
}

// What a plugin did not hear of it does not hear the end of, and what it did not
// subscribe to it is not owed.
func TestL18_OnlyWhatItKnewAndWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		a.wants = func(k Kind) bool { return k == RemovePodSandbox }
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.left(a)
		o.did("RunPodSandbox:p2")
		for _, p := range []string{"p1", "p2"} {
			o.end("StopContainer:"+p+"/c1", "StopPodSandbox:"+p, "RemoveContainer:"+p+"/c1", "RemovePodSandbox:"+p)
		}
		assert.Equal(t, 1, o.owes("10-a"))
		assert.Equal(t, "Synchronize() RemovePodSandbox:p1", o.again(a).told())
		assert.Empty(t, o.memory.now["10-a"].known)
		assert.Zero(t, o.Status().Connections[0].Pods)
	})
}

// A container that has exited while its plugin was away is removed while it is there.
func TestL18_ExitedContainerIsRemovedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.left(a)
		o.end("StopContainer:p1/c1")
		o.lists("p1", "p1/c1!")
		a = o.again(a)
		assert.Equal(t, "Synchronize(p1) StopContainer:p1/c1", a.told())
		o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1")
		o.end("StopPodSandbox:p1")
		o.end("RemovePodSandbox:p1")
		assert.Equal(t, "Synchronize(p1) "+lifeAndEnd, a.told())
	})
}

// Ends that come while a plugin comes back are told once, whether it makes it or not.
func TestL18_EndsWhileItComesBack(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := newOwing(t)
			a := newPlugin("10-a")
			o.joined(a)
			o.did("RunPodSandbox:p1")
			o.left(a)
			o.lists("p1")
			next := newPlugin("10-a")
			next.synchronize = func(context.Context, Snapshot) error {
				o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
				o.lists()
				if fails {
					return errors.New("not today")
				}
				return nil
			}
			err := o.join(next)
			synctest.Wait()
			if fails {
				require.Error(t, err)
				next = o.again(a)
				assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", next.told())
			} else {
				assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1", next.told())
			}
			assert.Zero(t, o.owes("10-a"))
		})
	}
}

// Nothing is written for plugins that are there and answer.
func TestL18_NothingIsWrittenWithNobodyAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		o.joined(newPlugin("10-a"), newPlugin("20-b"))
		synced := o.memory.syncs
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1")
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		assert.Equal(t, synced, o.memory.syncs)
	})
}

// An operator forgets a name: nothing is kept for it from then on.
func TestL18_NameIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		_, ok := o.Forget("10-a")
		assert.False(t, ok, "it is there")
		o.left(a)
		o.end("StopPodSandbox:p1")
		dropped, ok := o.Forget("10-a")
		assert.True(t, ok)
		assert.Equal(t, 1, dropped)
		o.end("RemovePodSandbox:p1")
		assert.Equal(t, "Synchronize()", o.again(a).told())
	})
}

// What the store has forgotten, as what was away for too long, is not kept here either.
func TestL18_NameThatIsNotKeptIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a, b := newPlugin("10-a"), newPlugin("20-b")
		o.joined(a, b)
		o.did("RunPodSandbox:p1")
		o.left(a)
		o.memory.Forget("10-a")
		o.left(b)
		o.mu.Lock()
		assert.Equal(t, []string{"20-b"}, slices.Collect(maps.Keys(o.names)))
		o.mu.Unlock()
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		assert.Equal(t, "Synchronize()", o.again(a).told())
	})
}

// missesMuch has a plugin miss the ends of many pods, and come back as one that takes a second
// for each event. It knows the pods that stay, too.
func (o *owing) missesMuch(stay ...string) {
	o.t.Helper()
	a := newPlugin("10-a")
	o.joined(a)
	const pods = 100
	pod := func(i int) string { return "p" + string(rune('A'+i)) }
	for i := range pods {
		o.did("RunPodSandbox:" + pod(i))
	}
	for _, id := range stay {
		o.did("RunPodSandbox:" + id)
	}
	o.left(a)
	for i := range pods {
		o.end("StopPodSandbox:"+pod(i), "RemovePodSandbox:"+pod(i))
	}
	o.lists(stay...)
	slow := newPlugin("10-a")
	slow.handle = func(context.Context, Event) (any, error) { slow.stall(time.Second); return nil, nil }
	o.joined(slow)
}

// Much that was missed holds up pods for one timeout; then they take turns with it.
func TestL18_MuchHoldsUpNoPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		o.missesMuch()
		start := time.Now()
		o.did("RunPodSandbox:new1")
		assert.LessOrEqual(t, time.Since(start), syncTimeout+3*time.Second)
		start = time.Now()
		o.did("RunPodSandbox:new2")
		assert.LessOrEqual(t, time.Since(start), 3*time.Second)
		time.Sleep(5 * time.Minute)
		assert.Zero(t, o.owes("10-a"))
	})
}

// So it is with a stop among those who wait, and with whatever else.
func TestL18_MuchHoldsUpNoStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		o.missesMuch("here1", "here2")
		time.Sleep(syncTimeout)
		start := time.Now()
		stop, again := o.ends("StopPodSandbox:here1"), o.ends("StopPodSandbox:here2", "RemovePodSandbox:here2")
		o.did("RunPodSandbox:new")
		assert.LessOrEqual(t, time.Since(start), 10*time.Second)
		<-stop
		<-again
		time.Sleep(5 * time.Minute)
		assert.Zero(t, o.owes("10-a"))
	})
}

// That an end is given up is told, by an outcome of its own.
func TestL22_EndThatIsGivenUpIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1")
		o.left(a)
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		for range tellings {
			o.joined(newPlugin("10-a").breakAt(StopPodSandbox))
			synctest.Wait()
		}
		assert.Equal(t, "10-a given up late, 10-a lost late, 10-a lost late", o.journal.outcomes(StopPodSandbox))
		assert.Equal(t, "Synchronize() RemovePodSandbox:p1", o.again(a).told(), "what is behind it goes on")
	})
}

// A runtime may have a container in both halves of its list, if it exits in between.
func TestL18_ContainerThatExitsDuringTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.kill()
		o.start(t, "p1", "p1/c1", "p1/c1!")
		o.end("StopContainer:p1/c1", "StopPodSandbox:p1")
		o.end("RemoveContainer:p1/c1", "RemovePodSandbox:p1")
		o.lists()
		assert.Equal(t, "Synchronize() StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1", o.again(a).told())
	})
}

// A list that fails at a start costs nothing that a later one has.
func TestL18_ListThatFailsAtAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		connected, away := newPlugin("10-connected"), newPlugin("20-away")
		o.joined(connected, away)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		o.left(away)
		o.kill()
		o.startWithoutList(t)
		o.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		o.kill()
		o.start(t, "p1")
		assert.ElementsMatch(t, []string{"Synchronize(p1)", "StopPodSandbox:p2", "RemovePodSandbox:p2"}, strings.Fields(o.again(away).told()))
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		o.lists()
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", o.again(connected).told())
	})
}

// One that comes back in the moment in which its connection closes is no second one of the name,
// though that was not noticed yet.
func TestL18_PluginThatComesBackAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := &breaking{plugin: newPlugin("10-a")}
		require.NoError(t, o.Join(t.Context(), a, a.sync))
		synctest.Wait() // the watcher waits for the plugin's own channel
		o.did("RunPodSandbox:p1")
		a.broken.Store(true)
		o.lists("p1")
		next := newPlugin("10-a")
		o.joined(next)
		o.left(next)
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		assert.Equal(t, 2, o.owes("10-a"))
	})
}

// A container that a plugin knew of a pod that it did not know has ended, too, if it is gone
// after a restart.
func TestL18_ContainerOfAnUnknownPodIsGoneAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("CreateContainer:p1/c1")
		o.left(a)
		o.Close()
		o.start(t)
		assert.Equal(t, "Synchronize() StopContainer:p1/c1 RemoveContainer:p1/c1", o.again(a).told())
	})
}

// Whatever it knew and wanted, and wants when it is back: nothing is kept of what has gone.
func TestL18_NothingIsKeptOfWhatHasGone(t *testing.T) {
	wants := maps.Clone(masks)
	wants["no end"] = Kind.First
	for _, knew := range []string{"RunPodSandbox:p1", "CreateContainer:p1/c1"} {
		for wanted := range wants {
			for mask := range wants {
				t.Run(knew+", "+wanted+", then "+mask, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						o := newOwing(t)
						a := newPlugin("10-a")
						a.wants = wants[wanted]
						o.joined(a)
						o.did(knew)
						o.left(a)
						o.end("RemovePodSandbox:p1")
						a.wants = wants[mask]
						o.again(a)
						is := o.Status().Connections[0]
						assert.Zero(t, is.Pods+is.Containers)
					})
				})
			}
		}
	}
}

// A connection that was never synchronized knows nothing: not even what it did not subscribe to.
func TestL3_ConnectionThatWasNotSynchronizedKnowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		a := newPlugin("10-a")
		a.wants = masks["ends"]
		o.joined(a)
		o.did("RunPodSandbox:p1")
		o.left(a)
		o.lists("p1")
		next := newPlugin("10-a")
		next.wants = a.wants
		next.untilAllowed()
		joined := o.comes(next)
		o.did("CreateContainer:p1/c1")
		o.left(next)
		require.Error(t, <-joined)
		o.end("RemoveContainer:p1/c1")
		assert.Equal(t, "Synchronize(p1)", o.again(a).told())
	})
}

// slowMemory takes a second to be safe.
type slowMemory struct{ *memory }

func (m slowMemory) Sync() {
	time.Sleep(time.Second)
	m.memory.Sync()
}

// requireSafeFirst says that teardowns are over when the store is safe, and not before.
func requireSafeFirst(t *testing.T, ended ...<-chan error) {
	for _, e := range ended {
		require.Empty(t, e)
	}
	time.Sleep(time.Second)
	synctest.Wait()
	for _, e := range ended {
		require.Len(t, e, 1)
	}
}

// Two stop a pod at a time, and the plugin is lost. What it has missed is safe before either goes
// on: the runtime may forget the pod with the one that is first.
func TestL18_SecondTeardownWaitsUntilItIsSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		o.change = func(opts *Options) { opts.Owed = slowMemory{o.memory} }
		o.start(t)
		a := newPlugin("10-a").hang(StopPodSandbox)
		o.joined(a)
		o.did("RunPodSandbox:p1")
		first, second := o.ends("StopPodSandbox:p1"), o.ends("StopPodSandbox:p1")
		synctest.Wait()
		a.Close()
		synctest.Wait()
		requireSafeFirst(t, first, second)
	})
}

// Likewise if the plugin owes an answer: the end that is stored already is the second one's, too.
func TestL18_TeardownPastAnOverduePluginWaitsUntilItIsSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwing(t)
		o.change = func(opts *Options) { opts.Owed = slowMemory{o.memory} }
		o.start(t)
		a, _ := frozen("10-a", UpdatePodSandbox)
		o.joined(a)
		o.did("RunPodSandbox:p1")
		o.did("UpdatePodSandbox:p1")
		first, second := o.ends("StopPodSandbox:p1"), o.ends("StopPodSandbox:p1")
		requireSafeFirst(t, first, second)
	})
}
