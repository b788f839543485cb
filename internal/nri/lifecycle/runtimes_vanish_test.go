// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pod has vanished if lists do not have it for ten minutes, and not before.
func TestL3_PodThatVanishesHasEnded(t *testing.T) {
	const ends = "StopContainer:p1/p1 RemoveContainer:p1/p1"
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		f.joined(a)
		f.did("CreateContainer:p1/p1")
		n := 0
		lists := func() {
			n++
			other := newPlugin(fmt.Sprintf("20-b%d", n))
			f.joined(other)
			synctest.Wait()
			other.Close()
		}
		lists() // not in the list yet
		f.has("p1", "p1")
		time.Sleep(vanishes)
		lists()
		f.hasNot("p1")
		lists()
		time.Sleep(vanishes - 1)
		lists()
		require.NotContains(t, a.received(), "Stop")
		time.Sleep(time.Nanosecond)
		lists()
		assert.Equal(t, "Synchronize() CreateContainer:p1/p1 "+ends, a.received())

		// The runtime uses the pod again, as if it had not vanished.
		f.did("CreateContainer:p1/p1")
		f.has("p1", "p1")
		lists()
		assert.Equal(t, "Synchronize() CreateContainer:p1/p1 "+ends+" CreateContainer:p1/p1", a.received())
	})
}

// The end of a pod that has vanished has a request.
func TestL3_EndOfAPodThatVanishesHasARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) {
			o.ImpliedEnd = func(k Kind, _ string, of Event) any { return k.String() + " of " + of.Pod }
		})
		a := newPlugin("10-a")
		f.joined(a)
		f.did("RunPodSandbox:p1")
		for _, name := range []string{"20-b", "30-c"} {
			f.joined(newPlugin(name))
			time.Sleep(vanishes)
		}
		f.joined(newPlugin("40-d"))
		synctest.Wait()
		require.Equal(t, "Synchronize() RunPodSandbox:p1 StopPodSandbox:p1 RemovePodSandbox:p1", a.received())
		assert.Equal(t, "StopPodSandbox of p1", a.history[2].Request)
		assert.Equal(t, "RemovePodSandbox of p1", a.history[3].Request)
	})
}

// A pod in which a container is being created has not vanished.
func TestL3_PodWithACreationHasNotVanished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		may := make(chan struct{})
		a.handle = func(ctx context.Context, ev Event) (any, error) {
			if ev.Container == "slow" {
				<-may
			}
			return nil, nil
		}
		a.timeouts.Request = time.Hour
		f.joined(a)
		f.did("RunPodSandbox:p1")
		created := f.asks("CreateContainer:p1/slow")
		for i := range 3 {
			f.joined(newPlugin(fmt.Sprintf("20-b%d", i)))
			time.Sleep(vanishes)
		}
		close(may)
		require.NoError(t, <-created)
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/slow", a.received())
	})
}

// A container vanishes while a successor is synchronized, and while it still waits in the line of
// the first.
func TestL19_ContainerThatVanishesBeforeTheHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		first.keepConnected = true
		first.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Container == "hangs" {
				<-first.closed
				return nil, ErrClosed
			}
			return nil, nil
		}
		f.joined(first)
		f.did("CreateContainer:hangs/hangs", "CreateContainer:p1/p1")
		f.has("p1", "p1")
		may := next.untilAllowed()
		joined := f.comes(next)
		time.Sleep(requestTimeout)
		f.hasNot("p1")
		close(may)
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, "Synchronize(p1 p1/p1) StopContainer:p1/p1 RemoveContainer:p1/p1 StopPodSandbox:p1 RemovePodSandbox:p1", next.received())
	})
}

// A pod vanishes, however busy its plugins are with other pods.
func TestL3_PodVanishesWhilePluginsAreBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		f.joined(a)
		f.did("CreateContainer:p1/p1", "CreateContainer:p2/p2")
		f.has("p2", "p2")
		a.takes(time.Second, UpdateContainer)
		for i := range 4 {
			busy := f.asks("UpdateContainer:p2/p2")
			f.joined(newPlugin(fmt.Sprintf("20-b%d", i)))
			require.NoError(t, <-busy)
			time.Sleep(vanishes)
		}
		assert.True(t, a.had(event("RemoveContainer:p1/p1")))
		assert.False(t, a.had(event("StopContainer:p2/p2")))
	})
}

// An event of a pod shows that it exists, though lists do not have it.
func TestL3_PodWithEventsHasNotVanished(t *testing.T) {
	for _, ev := range []string{"UpdatePodSandbox:p1", "StartContainer:p1/c1", "CreateContainer:p1/c2"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			a := newPlugin("10-a")
			f.joined(a)
			f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "PostCreateContainer:p1/c1")
			f.joined(newPlugin("20-b"))
			time.Sleep(vanishes)
			f.did(ev)
			f.joined(newPlugin("30-c"))
			synctest.Wait()
			assert.NotContains(t, a.received(), "Stop")
		})
	}
}

// Many objects that vanish at once drop no plugin, and delay no pod.
func TestL22_ManyVanishedObjectsBlockNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		for i := range 5000 {
			f.has(fmt.Sprint("p", i), "")
		}
		f.joined(a)
		f.listed = Snapshot{}
		f.joined(newPlugin("20-b"))
		time.Sleep(vanishes)
		a.takes(time.Millisecond, RemovePodSandbox)
		f.joined(newPlugin("30-c"))
		synctest.Wait()
		began := time.Now()
		f.did("RunPodSandbox:new")
		assert.LessOrEqual(t, time.Since(began), 2*time.Millisecond)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.False(t, a.isClosed())
		assert.Equal(t, 1, f.Status().Connections[0].Pods)
	})
}
