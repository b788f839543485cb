// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a plugin without subscription to first events receives of objects that begin while it is
// busy or joins.

// A pod or container that begins while such a plugin comes back lives. This holds, too, if the
// runtime could not list at its start, so that objects that the name knew may have gone.
func TestL18_ObjectThatBeginsDuringSynchronizeHasNotGone(t *testing.T) {
	for first, end := range map[string]string{"RunPodSandbox:p9": "StopPodSandbox:p9", "CreateContainer:p1/c9": "StopContainer:p1/c9"} {
		synctest.Test(t, func(t *testing.T) {
			o := newRemembering(t)
			a, next := newPlugin("10-a"), newPlugin("10-a")
			a.wants, next.wants = Kind.Final, Kind.Final
			o.joined(a)
			o.did("RunPodSandbox:p1")
			o.kill()
			o.startWithoutList(t)
			o.lists("p1")
			may := next.untilAllowed()
			joined := o.comes(next)
			o.did(first)
			close(may)
			require.NoError(t, <-joined)
			synctest.Wait()
			assert.Equal(t, "Synchronize(p1)", next.received())
			o.end(end)
			assert.Equal(t, "Synchronize(p1) "+end, next.received())
		})
	}
}

// A permanent plugin stays connected, however many objects begin to whose first events it does
// not subscribe.
func TestL22_UnsubscribedEventsDropNoPermanentPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.BacklogLimit = 1 })
		a := permanent{newPlugin("10-a")}
		a.wants = Kind.Final
		may := a.untilAllowed()
		joined := make(chan error, 1)
		go func() { joined <- f.Join(t.Context(), a, a.sync) }()
		synctest.Wait()
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		close(may)
		require.NoError(t, <-joined)
		f.end("StopPodSandbox:p1")
		assert.Equal(t, "Synchronize() StopPodSandbox:p1", a.received())
	})
}

// An id is used again while the ends of its first life wait for an overdue plugin.
func TestL2_IdMayBeUsedAgainBehindAnOverduePlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, thaw := frozen("10-a", StopPodSandbox)
		a.wants = Kind.Final
		f.joined(a)
		f.did("RunPodSandbox:p0", "RunPodSandbox:p1", "CreateContainer:p0/c0")
		f.end("StopPodSandbox:p0")
		f.end("RemovePodSandbox:p1")
		f.did("RunPodSandbox:p1")
		thaw()
		synctest.Wait()
		f.end("StopPodSandbox:p1")
		assert.Equal(t, "Synchronize() StopContainer:p0/c0 StopPodSandbox:p0 StopPodSandbox:p1 RemovePodSandbox:p1 StopPodSandbox:p1", a.received())
	})
}

// Likewise for a pod with a container, if the plugin did not subscribe to CreateContainer. Both
// lives end while the plugin is overdue, and the ends of the second are delivered apart from
// those of the first.
func TestL3_TwoLivesOfOneIdLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, thaw := frozen("10-a", UpdatePodSandbox)
		a.wants = func(k Kind) bool { return k != CreateContainer }
		f.joined(a)
		f.did("RunPodSandbox:p0", "RunPodSandbox:p1", "UpdatePodSandbox:p0")
		f.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		thaw()
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p0 RunPodSandbox:p1 UpdatePodSandbox:p0 StopPodSandbox:p1 RemovePodSandbox:p1 "+
			"StopContainer:p1/c1 RemoveContainer:p1/c1", a.received())
		pods, containers := f.names["10-a"].ledger.Count()
		assert.Equal(t, "1 0", fmt.Sprint(pods, containers), "pods and containers that the plugin knows")
	})
}

// Likewise for a container, and a busy plugin.
func TestL2_IdMayBeUsedAgainBehindABusyPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		a.wants = func(k Kind) bool { return k.Final() || k == UpdateContainer }
		f.joined(a)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "CreateContainer:p1/c2")
		a.takes(requestTimeout/2, UpdateContainer)
		busy := f.asks("UpdateContainer:p1/c2")
		ended := f.ends("StopContainer:p1/c1", "RemoveContainer:p1/c1")
		f.did("CreateContainer:p1/c1")
		again := f.ends("StopContainer:p1/c1", "RemoveContainer:p1/c1")
		require.NoError(t, <-busy)
		require.NoError(t, <-ended)
		require.NoError(t, <-again)
		assert.Equal(t, "Synchronize() UpdateContainer:p1/c2 StopContainer:p1/c1 RemoveContainer:p1/c1 StopContainer:p1/c1 RemoveContainer:p1/c1", a.received())
	})
}

// Likewise while a plugin comes back that has missed the end of the first life, and while a
// plugin is synchronized for the first time.
func TestL2_IdMayBeUsedAgainDuringSynchronize(t *testing.T) {
	for _, back := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := newRemembering(t)
			begin := func() { o.did("RunPodSandbox:p1") }
			end := func() { o.end("StopPodSandbox:p1", "RemovePodSandbox:p1") }
			if back {
				a := newPlugin("10-a")
				a.wants = Kind.Final
				o.joined(a)
				begin()
				o.left(a)
				end()
			}
			next := newPlugin("10-a")
			next.wants = Kind.Final
			may := next.untilAllowed()
			joined := o.comes(next)
			if !back {
				begin()
				end()
			}
			begin()
			close(may)
			require.NoError(t, <-joined)
			synctest.Wait()
			end()
			assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1 StopPodSandbox:p1 RemovePodSandbox:p1", next.received())
		})
	}
}

// A container begins in a pod that has vanished, before a busy plugin has received the pod's end:
// the container lives.
func TestL3_ContainerBeginsInAPodThatHasVanished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		a.wants = func(k Kind) bool { return k.Final() || k == UpdateContainer }
		f.joined(a)
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2", "CreateContainer:p2/c2", "PostCreateContainer:p2/c2")
		f.listed = Snapshot{Pods: pods("p2"), Containers: []Object{{Pod: "p2", Container: "c2"}}}
		f.joined(newPlugin("20-b"))
		time.Sleep(vanishes)
		a.takes(requestTimeout/2, UpdateContainer)
		busy := f.asks("UpdateContainer:p2/c2")
		f.joined(newPlugin("20-c"))
		synctest.Wait()
		f.did("CreateContainer:p1/c1")
		require.NoError(t, <-busy)
		synctest.Wait()
		f.end("StopContainer:p1/c1")
		assert.Equal(t, "Synchronize() UpdateContainer:p2/c2 StopPodSandbox:p1 RemovePodSandbox:p1 StopContainer:p1/c1", a.received())
	})
}

// A first is overdue and did not subscribe to containers. A container begins and ends meanwhile.
// A successor that subscribed to containers receives no CreateContainer of it.
func TestL19_UnsubscribedContainerOfTheFirstHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, _ := frozen("10-a", UpdatePodSandbox)
		first.wants = masks["pods"]
		next := newPlugin("10-a")
		next.wants = masks["creations"]
		f.joined(first)
		f.did("RunPodSandbox:p1")
		f.did("UpdatePodSandbox:p1")
		f.did("CreateContainer:p1/c1")
		f.end("StopContainer:p1/c1", "RemoveContainer:p1/c1")
		f.end("StopPodSandbox:p1")
		f.end("RemovePodSandbox:p1")
		f.joined(next)
		synctest.Wait()
		assert.Equal(t, "Synchronize() RemoveContainer:p1/c1 RemovePodSandbox:p1", next.received())
	})
}

// Two deliver a container late: its next event, and the list that has it. The container is
// removed when one of them has ended and the other has still a plugin to deliver to. That plugin
// receives nothing.
func TestL3_ContainerEndsDuringTwoLateDeliveries(t *testing.T) {
	c1 := []Object{{Pod: "p1", Container: "c1"}}
	for is, listed := range map[string]Snapshot{"running": {Containers: c1}, "exited": {Exited: c1}} {
		t.Run("it is listed as "+is, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				accounted := make(chan struct{})
				f := newFixture(t, func(o *Options) {
					o.BacklogLimit = 5
					o.Observer = &slowAccount{Observer: o.Observer, lost: func(Event) { <-accounted }}
				})
				a, _ := frozen("10-a", UpdatePodSandbox)
				b, thaw := frozen("20-b", UpdateContainer)
				f.joined(a, b)
				f.did("RunPodSandbox:p0", "RunPodSandbox:p1", "CreateContainer:p1/c0", "UpdatePodSandbox:p1")
				f.end("StopPodSandbox:p0")
				f.did("RunPodSandbox:p2", "RunPodSandbox:p3", "RunPodSandbox:p4", "UpdateContainer:p1/c0", "CreateContainer:p1/c1")
				created := f.asks("PostCreateContainer:p1/c1") // it drops a, whose line is full, and takes its time
				f.listed = listed
				f.listed.Pods = pods("p1")
				f.joined(newPlugin("30-c"))
				synctest.Wait()
				f.end("StopContainer:p1/c1", "RemoveContainer:p1/c1")
				close(accounted)
				require.NoError(t, <-created)
				thaw()
				synctest.Wait()
				assert.NotContains(t, b.received(), "p1/c1")
			})
		})
	}
}

// A full line of a permanent plugin does not fail pods: its policy decides.
func TestL16_PermanentPluginWithAFullLineFailsNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.BacklogLimit = 1 })
		a := permanent{newPlugin("10-a")}
		a.takes(requestTimeout/2, RunPodSandbox)
		require.NoError(t, f.Join(t.Context(), a, a.sync))
		one, two := f.asks("RunPodSandbox:p1"), f.asks("RunPodSandbox:p2")
		three := f.asks("RunPodSandbox:p3")
		assert.NoError(t, <-one)
		assert.NoError(t, <-two)
		assert.NoError(t, <-three, "its policy is to skip it")
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 RunPodSandbox:p2", a.received())
	})
}
