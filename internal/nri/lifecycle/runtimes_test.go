// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A runtimeKind is how much a runtime reports of the life of a container. The engine does not
// know which kind it serves.
type runtimeKind string

const (
	// patched reports how each creation ended, like containerd with the series.
	patched runtimeKind = "patched"
	// crio holds a lock of its own around each event and around its list. It reports nothing of a
	// container that it fails to make, and no longer lists a pod when it reports its removal.
	crio runtimeKind = "CRI-O"
	// moby asks for the creation of a container, in a pod of the same id, and reports nothing
	// else.
	moby runtimeKind = "moby"
)

var runtimeKinds = []runtimeKind{patched, crio, moby}

// lives runs the lives of containers, each in a pod of its own, one in a second.
func (f *fixture) lives(kind runtimeKind, n int) {
	for i := range n {
		time.Sleep(time.Second)
		pod := fmt.Sprintf("p%d", i)
		f.life(kind, pod, "c"+pod, i%10 == 9)
	}
}

// life runs the life of one container. It may fail after all plugins have approved it.
func (f *fixture) life(kind runtimeKind, pod, ctr string, fails bool) {
	f.t.Helper()
	if kind == moby {
		f.did("CreateContainer:" + pod + "/" + pod)
		synctest.Wait() // the engine may ask for a list by itself
		if !fails {
			f.has(pod, pod)
			f.hasNot(pod)
		}
		return
	}
	of := pod + "/" + ctr
	f.has(pod, "")
	f.did("RunPodSandbox:"+pod, "CreateContainer:"+of)
	switch {
	case !fails:
		f.has(pod, ctr)
		f.did("PostCreateContainer:"+of, "StartContainer:"+of)
		f.over("StopContainer:"+of, "RemoveContainer:"+of)
	case kind == patched:
		f.over("StopContainer:"+of, "RemoveContainer:"+of)
	}
	f.over("StopPodSandbox:" + pod)
	if kind == crio {
		f.hasNot(pod)
	}
	f.over("RemovePodSandbox:" + pod)
	f.hasNot(pod)
}

func (f *fixture) over(events ...string) {
	f.t.Helper()
	require.NoError(f.t, f.end(events...))
}

// has adds a pod, or a container and its pod, to the runtime's list.
func (f *fixture) has(pod, ctr string) {
	f.hasNot(pod)
	f.listed.Pods = append(f.listed.Pods, Object{Pod: pod})
	if ctr != "" {
		f.listed.Containers = append(f.listed.Containers, Object{Pod: pod, Container: ctr})
	}
}

// hasNot removes a pod from the runtime's list, with its containers.
func (f *fixture) hasNot(pod string) {
	in := func(o Object) bool { return o.Pod == pod }
	f.listed.Pods = slices.DeleteFunc(f.listed.Pods, in)
	f.listed.Containers = slices.DeleteFunc(f.listed.Containers, in)
}

// A plugin that joins receives nothing that a runtime has failed to make, or has ended without a
// report.
func TestL3_JoiningPluginReceivesNoGoneObject(t *testing.T) {
	for _, kind := range runtimeKinds {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.joined(newPlugin("10-a"))
				f.lives(kind, 200)
				f.did("CreateContainer:alive/alive")
				f.has("alive", "alive")
				next := newPlugin("20-b")
				f.joined(next)
				assert.Equal(t, "Synchronize(alive alive/alive)", next.received())
			})
		})
	}
}

// Many lives leave nothing in the engine, and nothing in its ledgers.
func TestManyLivesLeaveNothing(t *testing.T) {
	for _, kind := range runtimeKinds {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.joined(newPlugin("10-a"))
				f.lives(kind, 10_000)
				for i := range 2 {
					f.joined(newPlugin(fmt.Sprintf("2%d-b", i)))
					time.Sleep(vanishes)
					synctest.Wait()
				}
				f.joined(newPlugin("30-c"))
				synctest.Wait()
				assert.Empty(t, f.creations)
				assert.Empty(t, f.missing)
				for _, c := range f.Status().Connections {
					assert.Zero(t, c.Pods+c.Containers, c.Conn.Name())
				}
			})
		})
	}
}

// The engine asks a runtime that reports no ends for its list now and then, though no plugin
// joins.
func TestRuntimeThatReportsNoEndsIsListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		f.joined(a)
		f.did("CreateContainer:alive/alive")
		f.has("alive", "alive")
		f.lives(moby, 10_000)
		synctest.Wait()
		assert.Less(t, f.Status().Connections[0].Pods, 5*unconfirmed)
		assert.True(t, a.had(event("RemoveContainer:p0/p0")))
		assert.False(t, a.had(event("StopContainer:alive/alive")))
	})
}

// A list costs the runtime time: however many objects are unconfirmed, the engine asks for one
// list a minute.
func TestListsAreBoundedInNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists := 0
		f := newFixture(t, func(o *Options) {
			o.List = func(context.Context) (Snapshot, error) {
				lists++
				return Snapshot{}, nil
			}
		})
		f.joined(newPlugin("10-a"))
		for i := range 3 * unconfirmed {
			f.did(fmt.Sprintf("CreateContainer:p%d/c", i))
			synctest.Wait()
		}
		assert.Equal(t, 2, lists, "one for the join, and one as soon as many are unconfirmed")
		time.Sleep(time.Minute)
		f.did("CreateContainer:p/c")
		synctest.Wait()
		assert.Equal(t, 3, lists)
	})
}

// A runtime makes a container and lists it, and does not report that. A plugin that joined while
// the container was made receives it late.
func TestL2_ContainerThatIsOnlyListedIsDeliveredLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		between := newPlugin("10-a")
		f.did("CreateContainer:p1/p1")
		f.joined(between)
		f.has("p1", "p1")
		f.joined(newPlugin("20-b"))
		synctest.Wait()
		assert.Equal(t, "Synchronize() CreateContainer:p1/p1", between.received())
	})
}

// A pod has stopped, and the runtime drops it from its list before it reports its removal. A
// container that is being created in it finds it stopped.
func TestL11_NoContainerIsCreatedInAPodThatIsBeingRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.has("p1", "")
		f.did("RunPodSandbox:p1")
		f.over("StopPodSandbox:p1")
		f.hasNot("p1")
		a := newPlugin("10-a")
		f.joined(a)
		require.ErrorIs(t, f.ask(t.Context(), "CreateContainer:p1/c1"), ErrStopped)
		f.over("RemovePodSandbox:p1")
		assert.Equal(t, "Synchronize()", a.received())
	})
}

// A plugin receives its missed ends with their requests, however long earlier ends take: the pod
// is in no list by then.
func TestL18_MissedEndsKeepTheirRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &remembering{memory: newMemory(), change: func(opts *Options) {
			opts.Encode = func(ev Event) string { s, _ := ev.Request.(string); return s }
			opts.Decode = func(_ Event, s string) any { return s }
			opts.OverdueLimit = time.Hour
		}}
		o.start(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		o.left(a)
		for _, pod := range []string{"p1", "p2"} {
			for _, kind := range []Kind{StopPodSandbox, RemovePodSandbox} {
				require.NoError(t, o.Teardown(t.Context(), []Event{{Kind: kind, Pod: pod, Request: "whole"}}, nil))
			}
		}
		o.kill()
		o.start(t)
		a, thaw := frozen("10-a", StopPodSandbox)
		o.joined(a)
		for i := range 3 {
			o.joined(newPlugin(fmt.Sprintf("20-b%d", i)))
			time.Sleep(vanishes)
		}
		thaw()
		synctest.Wait()
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1 StopPodSandbox:p2 RemovePodSandbox:p2", a.received())
		for _, rec := range a.history[1:] {
			assert.Equal(t, "whole", rec.Request, rec)
		}
	})
}

// A container ends while it is delivered late to plugins that joined since its approval. Plugins
// whose turn comes after that receive nothing of it.
func TestL3_ContainerEndsWhileItIsDeliveredLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.did("CreateContainer:p1/c1")
		a, b := newPlugin("10-a"), newPlugin("20-b")
		first := inline{a, func(ev Event) {
			if ev.Kind == CreateContainer {
				go f.over("StopContainer:p1/c1", "RemoveContainer:p1/c1")
				synctest.Wait()
			}
		}}
		require.NoError(t, f.Join(t.Context(), first, a.sync))
		f.joined(b)
		f.did("PostCreateContainer:p1/c1")
		synctest.Wait()
		assert.Equal(t, "Synchronize() CreateContainer:p1/c1 StopContainer:p1/c1 RemoveContainer:p1/c1", a.received())
		assert.Equal(t, "Synchronize()", b.received())
	})
}

// A container that the runtime has, and that has exited, is not delivered late.
func TestContainerThatHasExitedIsNotInCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.did("CreateContainer:p1/p1")
		f.listed = Snapshot{Pods: pods("p1"), Exited: []Object{{Pod: "p1", Container: "p1"}}}
		a := newPlugin("10-a")
		f.joined(a)
		assert.Empty(t, f.creations)
		assert.Equal(t, "Synchronize(p1)", a.received())
	})
}

// A runtime reads its list when a container has exited. When it returns the list, that container is
// removed, and another one with its id is being created. The engine does not take the second container
// for the first: a plugin that has joined meanwhile receives its CreateContainer late.
func TestL2_ContainerHasTheIdOfOneThatHadExited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handed := make(chan struct{})
		var f *fixture
		f = newFixture(t, func(o *Options) {
			o.List = func(context.Context) (Snapshot, error) {
				read := f.listed
				<-handed
				return read, nil
			}
		})
		f.did("CreateContainer:p1/c1")
		f.listed = Snapshot{Pods: pods("p1"), Exited: []Object{{Pod: "p1", Container: "c1"}}}
		a := newPlugin("10-a")
		joined := make(chan error, 1)
		go func() { joined <- f.join(a) }()
		time.Sleep(time.Second)
		require.NoError(t, f.end("StopContainer:p1/c1", "RemoveContainer:p1/c1"))
		f.did("CreateContainer:p1/c1")
		close(handed)
		require.NoError(t, <-joined)
		f.did("PostCreateContainer:p1/c1")
		synctest.Wait()
		assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 PostCreateContainer:p1/c1", a.received())
	})
}

// A list that waited for the runtime's own lock is as new as the moment of its reading.
func TestL3_ListThatWaitedIsAsNewAsItsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := newLock()
		var f *fixture
		f = newFixture(t, func(o *Options) {
			o.List = func(context.Context) (Snapshot, error) {
				defer lock.take(true)()
				return f.listed, nil
			}
		})
		a := newPlugin("10-a")
		a.timeouts.Request = time.Hour
		a.takes(vanishes+time.Second, CreateContainer)
		f.joined(a)
		unlock := lock.take(false)
		created := f.asks("CreateContainer:p1/p1")
		listed := f.comes(newPlugin("20-b"))
		require.NoError(t, <-created)
		unlock()
		require.Error(t, <-listed, "the join has timed out")
		synctest.Wait()
		f.joined(newPlugin("20-b"))
		synctest.Wait()
		assert.Equal(t, "Synchronize() CreateContainer:p1/p1", a.received())
	})
}

// CRI-O does not report each container that it has made: after a creation whose caller had
// canceled, it starts the container. Then the container exists.
func TestL2_ContainerThatIsStartedExists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		overdue, thaw := frozen("10-a", UpdatePodSandbox)
		f.joined(overdue)
		f.did("RunPodSandbox:p1", "UpdatePodSandbox:p1", "CreateContainer:p1/c1")
		f.has("p1", "")
		between := newPlugin("20-b")
		f.joined(between)
		thaw()
		synctest.Wait()
		f.did("StartContainer:p1/c1")
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 UpdatePodSandbox:p1 CreateContainer:p1/c1 StartContainer:p1/c1", overdue.received())
		assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 StartContainer:p1/c1", between.received())
	})
}

// A container that a runtime fails to make, and does not report, vanishes even if its pod stays.
func TestL3_ContainersThatAreNeverMadeHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) {
			o.ImpliedEnd = func(k Kind, container string, of Event) any {
				return fmt.Sprint(k, " of ", container, " by ", of.Request)
			}
		})
		a := newPlugin("10-a")
		f.joined(a)
		f.has("p1", "")
		f.did("RunPodSandbox:p1")
		for i := range 4 * unconfirmed {
			time.Sleep(time.Second)
			ev := event(fmt.Sprintf("CreateContainer:p1/c%d", i))
			ev.Request = i
			require.NoError(t, f.Ask(t.Context(), ev, nil))
		}
		synctest.Wait()
		assert.Less(t, len(f.creations), 2*unconfirmed)
		assert.Less(t, f.Status().Connections[0].Containers, 2*unconfirmed)
		assert.True(t, a.had(event("StopContainer:p1/c0")))
		assert.False(t, a.had(event("StopPodSandbox:p1")))
		for _, rec := range a.history {
			if rec.Kind == RemoveContainer && rec.Container == "c7" {
				assert.Equal(t, "RemoveContainer of c7 by 7", rec.Request)
			}
		}
	})
}

// A plugin may connect another one while it receives a listed container late.
func TestJoinDuringDeliveryOfTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.did("CreateContainer:p1/p1")
		a := newPlugin("10-a")
		joined := errNoList
		in := inline{a, func(ev Event) {
			if ev.Kind == CreateContainer {
				joined = f.join(newPlugin("20-b"))
			}
		}}
		require.NoError(t, f.Join(t.Context(), in, a.sync))
		f.has("p1", "p1")
		f.joined(newPlugin("30-c"))
		synctest.Wait()
		assert.NoError(t, joined)
	})
}

// Nothing is kept of a pod that has vanished, where lists leave out pods in creation.
func TestApprovedPodLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.OmitCreating = true })
		f.joined(newPlugin("10-a"))
		f.did("RunPodSandbox:p1")
		for i := range 3 {
			f.joined(newPlugin(fmt.Sprintf("20-b%d", i)))
			time.Sleep(vanishes)
		}
		assert.Empty(t, f.agreed)
	})
}

// A blockedObserver blocks at one delivery.
type blockedObserver struct {
	Observer
	at  string
	may chan struct{}
}

func (o *blockedObserver) Delivered(d Delivery) {
	if eventName(d.Event) == o.at {
		<-o.may
	}
	o.Observer.Delivered(d)
}

// A runtime has listed a container for which plugins were asked, and drops it before all have
// received it late. A successor that was synchronized with it receives nothing of it after its
// end.
func TestL3_ContainerIsDroppedBeforeAllAreCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blocked := &blockedObserver{at: "CreateContainer:a/a", may: make(chan struct{})}
		f := newHanding(t, func(o *Options) {
			blocked.Observer = o.Observer
			o.Observer = blocked
		})
		f.did("CreateContainer:a/a", "CreateContainer:b/b")
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(newPlugin("05-slow"), first)
		a, b := Object{Pod: "a", Container: "a"}, Object{Pod: "b", Container: "b"}
		f.listed = Snapshot{Pods: pods("a", "b"), Containers: []Object{a, b}}
		may := next.untilAllowed()
		joined := f.comes(next)
		time.Sleep(requestTimeout) // so that the runtime lists once more
		f.listed = Snapshot{Pods: pods("a"), Containers: []Object{a}}
		close(may)
		require.NoError(t, <-joined)
		close(blocked.may)
		synctest.Wait()
		received := read(next.history, all)
		assert.Empty(t, received.faults, next.received())
	})
}

// A container has the id of an earlier one that no list had: its time to vanish begins anew.
func TestL3_ContainerHasTheIdOfOneThatNoListHad(t *testing.T) {
	for _, ended := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			a := newPlugin("10-a")
			f.joined(a)
			f.listed = Snapshot{Pods: pods("p1")}
			f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
			f.joined(newPlugin("20-b")) // this list does not have c1
			if ended {
				f.end("StopContainer:p1/c1", "RemoveContainer:p1/c1")
			}
			time.Sleep(vanishes)
			f.did("CreateContainer:p1/c1")
			f.joined(newPlugin("20-c")) // lists before the runtime has c1
			synctest.Wait()
			f.listed.Containers = []Object{{Pod: "p1", Container: "c1"}}
			f.did("PostCreateContainer:p1/c1", "StartContainer:p1/c1")
			f.end("StopContainer:p1/c1")
			assert.Contains(t, a.received(), "StartContainer:p1/c1 StopContainer:p1/c1")
		})
	}
}
