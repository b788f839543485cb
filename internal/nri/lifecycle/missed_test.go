// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const lifeAndEnd = "StopContainer:p1/c1 RemoveContainer:p1/c1 StopPodSandbox:p1 RemovePodSandbox:p1"

func TestL18_EndsWhileDisconnectedAreDelivered(t *testing.T) {
	for _, restart := range []string{"", "killed", "stopped"} {
		t.Run("runtime "+restart, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newRemembering(t)
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
				assert.Equal(t, "Synchronize() "+lifeAndEnd, a.received())
				assert.Zero(t, o.missed("10-a"))
				assert.Equal(t, "Synchronize()", o.again(newPlugin("20-b")).received(), "it did not know the pod")
				a.Close()
				synctest.Wait()
				assert.Equal(t, "Synchronize()", o.again(a).received(), "received twice")
			})
		})
	}
}

// A plugin that was connected when the runtime was killed knows the objects that the next runtime
// finds, and nothing that began later.
func TestL18_EndsAfterAKillAreDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
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
		assert.Equal(t, "Synchronize() StopContainer:p1/c1 StopContainer:p1/c2 StopPodSandbox:p1 RemoveContainer:p1/c2 RemoveContainer:p1/c1 RemovePodSandbox:p1", a.received())
	})
}

// If a pod had stopped before a kill, its containers had stopped, too.
func TestL18_ContainersOfAStoppedPodHaveStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.end("StopContainer:p1/c1", "StopPodSandbox:p1")
		o.kill()
		o.start(t, "p1!", "p1/c1!")
		a = o.again(a)
		o.end("RemoveContainer:p1/c1", "RemovePodSandbox:p1")
		assert.Equal(t, "Synchronize(p1!) RemoveContainer:p1/c1 RemovePodSandbox:p1", a.received())
	})
}

// A container's Stop came with that of its pod, and the runtime was killed before either was
// safe. The container's Stop is not lost: it is delivered before the pod's.
func TestL18_StopsThatWereNotSafeAreDeliveredInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "CreateContainer:p1/c2")
		o.end("StopContainer:p1/c2")
		o.left(a)
		o.end("StopContainer:p1/c1", "StopPodSandbox:p1")
		o.kill()
		o.start(t, "p1!", "p1/c1!", "p1/c2!")
		a = o.again(a)
		assert.Equal(t, "Synchronize(p1!) StopContainer:p1/c1 StopPodSandbox:p1", a.received())
		o.end("RemoveContainer:p1/c1", "RemoveContainer:p1/c2", "RemovePodSandbox:p1")
		assert.Equal(t, "Synchronize(p1!) StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemoveContainer:p1/c2 RemovePodSandbox:p1", a.received())
	})
}

// Objects that a name knew, and that the runtime no longer finds, have ended, for instance under
// another runtime.
func TestL18_PodGoneAfterARestartHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "RunPodSandbox:p2", "CreateContainer:p2/c2")
		o.left(a)
		o.Close()
		o.start(t, "p2")
		a = o.again(a)
		assert.ElementsMatch(t, strings.Fields("Synchronize(p2) StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1 StopContainer:p2/c2 RemoveContainer:p2/c2"),
			strings.Fields(a.received()))
		a.mu.Lock()
		defer a.mu.Unlock()
		assert.Empty(t, readAgain(a.history, a.wants, []string{"p1", "p1/c1", "p2/c2"}).faults)
	})
}

// A pod's Stop that was not answered is delivered again at once, not with the pod's removal.
func TestL18_StopThatWasNotAnsweredIsDeliveredAgain(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := newRemembering(t)
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
			assert.Equal(t, "Synchronize(p1!) StopPodSandbox:p1", a.received())
			o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
			assert.Equal(t, "Synchronize(p1!) StopPodSandbox:p1 RemovePodSandbox:p1", a.received())
		})
	}
}

// A plugin without subscription to first events hangs, and a pod and a container begin meanwhile.
// The plugin's name knows them when it disconnects.
func TestL18_PodBegunWhileAPluginLeavesIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
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
		assert.Equal(t, "Synchronize(p0) StopPodSandbox:p1 RemovePodSandbox:p1 StopContainer:p0/c1 RemoveContainer:p0/c1", o.again(a).received())
	})
}

// A Stop in which the connection broke is missed.
func TestL18_StopThatBreaksTheConnectionIsDeliveredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a").breakAt(StopPodSandbox)
		o.joined(a)
		o.did("RunPodSandbox:p1")
		require.NoError(t, o.end("StopPodSandbox:p1"))
		synctest.Wait()
		o.lists("p1!")
		a = o.again(a)
		assert.Equal(t, "Synchronize(p1!) StopPodSandbox:p1", a.received())
	})
}

// A plugin hangs and stays connected. The ends that wait for it are missed events until it
// answers.
func TestL18_EndsInTheLineOfAHungPluginOutliveAKill(t *testing.T) {
	for _, answers := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := newRemembering(t)
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
			assert.Equal(t, 4, o.missed("10-a"))
			if answers {
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Zero(t, o.missed("10-a"))
			}
			if answers {
				o.memory.Sync()
			}
			o.kill()
			o.start(t)
			a = o.again(a)
			if answers {
				assert.Equal(t, "Synchronize()", a.received())
			} else {
				assert.Equal(t, "Synchronize() StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1", a.received())
			}
		})
	}
}

// An answer settles an end, also a rejection. A timeout keeps that end and those behind it.
func TestL18_TimeoutKeepsMissedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		o.left(a)
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		o.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		o.joined(newPlugin("10-a").hang(RemovePodSandbox))
		time.Sleep(2 * requestTimeout)
		assert.Equal(t, 3, o.missed("10-a"))
		o.joined(newPlugin("10-a").reject(RemovePodSandbox))
		synctest.Wait()
		assert.Zero(t, o.missed("10-a"))
	})
}

// A plugin misses ends only of objects that it knew, and only those to which it subscribed.
func TestL18_OnlyKnownAndSubscribedEndsAreMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		a.wants = func(k Kind) bool { return k == RemovePodSandbox }
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.left(a)
		o.did("RunPodSandbox:p2")
		for _, p := range []string{"p1", "p2"} {
			o.end("StopContainer:"+p+"/c1", "StopPodSandbox:"+p, "RemoveContainer:"+p+"/c1", "RemovePodSandbox:"+p)
		}
		assert.Equal(t, 1, o.missed("10-a"))
		assert.Equal(t, "Synchronize() RemovePodSandbox:p1", o.again(a).received())
		assert.Empty(t, o.memory.now["10-a"].known)
		assert.Zero(t, o.Status().Connections[0].Pods)
	})
}

// A container exits while its plugin is disconnected, and is removed when the plugin is connected
// again.
func TestL18_ExitedContainerIsRemovedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.left(a)
		o.end("StopContainer:p1/c1")
		o.lists("p1", "p1/c1!")
		a = o.again(a)
		assert.Equal(t, "Synchronize(p1) StopContainer:p1/c1", a.received())
		o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1")
		o.end("StopPodSandbox:p1")
		o.end("RemovePodSandbox:p1")
		assert.Equal(t, "Synchronize(p1) "+lifeAndEnd, a.received())
	})
}

// Ends that come while a plugin joins again are delivered once, whether the join succeeds or
// fails.
func TestL18_EndsWhileThePluginReturns(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := newRemembering(t)
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
				assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", next.received())
			} else {
				assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1", next.received())
			}
			assert.Zero(t, o.missed("10-a"))
		})
	}
}

// A runtime may list a container in both halves of its list, if it exits in between.
func TestL18_ContainerThatExitsDuringTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.kill()
		o.start(t, "p1", "p1/c1", "p1/c1!")
		o.end("StopContainer:p1/c1", "StopPodSandbox:p1")
		o.end("RemoveContainer:p1/c1", "RemovePodSandbox:p1")
		o.lists()
		assert.Equal(t, "Synchronize() StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1", o.again(a).received())
	})
}

// If the first list of a runtime fails, nothing is lost that a later list has.
func TestL18_ListThatFailsAtAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		connected, gone := newPlugin("10-connected"), newPlugin("20-gone")
		o.joined(connected, gone)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		o.left(gone)
		o.kill()
		o.startWithoutList(t)
		o.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		o.kill()
		o.start(t, "p1")
		assert.ElementsMatch(t, []string{"Synchronize(p1)", "StopPodSandbox:p2", "RemovePodSandbox:p2"}, strings.Fields(o.again(gone).received()))
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		o.lists()
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", o.again(connected).received())
	})
}

// A plugin that comes back in the moment in which its connection closes is not a duplicate,
// though the engine has not noticed the close yet.
func TestL18_PluginThatReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
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
		assert.Equal(t, 2, o.missed("10-a"))
	})
}

// A plugin knew a container, and not its pod. If the container is gone after a restart, it has
// ended, too.
func TestL18_ContainerOfAnUnknownPodIsGoneAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("CreateContainer:p1/c1")
		o.left(a)
		o.Close()
		o.start(t)
		assert.Equal(t, "Synchronize() StopContainer:p1/c1 RemoveContainer:p1/c1", o.again(a).received())
	})
}

// A connection that was never synchronized knows nothing, not even objects whose first event it
// does not subscribe to.
func TestL3_ConnectionThatWasNotSynchronizedKnowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
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
		assert.Equal(t, "Synchronize(p1)", o.again(a).received())
	})
}
