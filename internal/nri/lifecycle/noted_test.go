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

// What a plugin that wants no first events is told of what begins while it is busy, or joins.

// A pod or container that begins while such a plugin comes back lives, also if the runtime could
// not list at its start, so that what the name knew may have gone.
func TestL18_WhatBeginsDuringSynchronizeHasNotGone(t *testing.T) {
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

// One that is part of the runtime stays, however much begins that it does not want.
func TestL22_PermanentPluginIsNotDroppedForWhatItDoesNotWant(t *testing.T) {
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

// An id is used again while the ends of its first life wait for a plugin that is overdue.
func TestL2_AnIdMayBeUsedAgainBehindAnOverduePlugin(t *testing.T) {
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

// Likewise of a pod with a container that the plugin wants nothing of but its end: both lives end
// behind it, and the ends of the second do not go with those of the first.
func TestL3_NothingIsLeftOfTwoLivesOfOneId(t *testing.T) {
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

// Likewise that of a container, and a busy plugin.
func TestL2_AnIdMayBeUsedAgainBehindABusyPlugin(t *testing.T) {
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

// Likewise while a plugin comes back that has missed the end of the first life, and while one is
// synchronized for the first time.
func TestL2_AnIdMayBeUsedAgainDuringSynchronize(t *testing.T) {
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

// A pod that has vanished has a container all the same, while a busy plugin has still to be told
// that it vanished: the container has just begun.
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

// A container that a first did not want to be told of has begun and ended behind it, while it owes
// an answer. A successor that wants to be told of containers is told nothing of that one.
func TestL19_WhatTheFirstDidNotWantHasEnded(t *testing.T) {
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

// Two tell plugins late of a container: who asks of it next, and the list that has it. It is removed
// when one of them has done and the other has still to tell a plugin. That is told nothing.
func TestL3_ContainerEndsWhileTwoTellOfIt(t *testing.T) {
	c1 := []Object{{Pod: "p1", Container: "c1"}}
	for is, listed := range map[string]Snapshot{"running": {Containers: c1}, "exited": {Exited: c1}} {
		t.Run("it is listed as "+is, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				accounted := make(chan struct{})
				f := newFixture(t, func(o *Options) {
					o.BacklogLimit = 4
					o.Observer = &slowAccount{Observer: o.Observer, lost: func(Event) { <-accounted }}
				})
				a, _ := frozen("10-a", UpdatePodSandbox)
				b, thaw := frozen("20-b", UpdateContainer)
				f.joined(a, b)
				f.did("RunPodSandbox:p0", "RunPodSandbox:p1", "CreateContainer:p1/c0", "UpdatePodSandbox:p1")
				f.end("StopPodSandbox:p0")
				f.did("RunPodSandbox:p2", "RunPodSandbox:p3", "RunPodSandbox:p4", "UpdateContainer:p1/c0", "CreateContainer:p1/c1")
				created := f.asks("PostCreateContainer:p1/c1") // it drops a, for which too much waits, and takes its time
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

// Nor do pods fail by one for which too much waits, but by its policy.
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
		assert.NoError(t, <-three, "its policy is to go on")
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 RunPodSandbox:p2", a.received())
	})
}
