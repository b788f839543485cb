// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// Nothing is written for plugins that are connected and answer.
func TestL18_NothingIsWrittenWhileAllAreConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		o.joined(newPlugin("10-a"), newPlugin("20-b"))
		synced := o.memory.syncs
		o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1")
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		assert.Equal(t, synced, o.memory.syncs)
	})
}

// An operator forgets a name: from then on nothing is kept for it.
func TestL18_NameIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		_, ok := o.Forget("10-a")
		assert.False(t, ok, "it is connected")
		o.left(a)
		o.end("StopPodSandbox:p1")
		dropped, ok := o.Forget("10-a")
		assert.True(t, ok)
		assert.Equal(t, 1, dropped)
		o.end("RemovePodSandbox:p1")
		assert.Equal(t, "Synchronize()", o.again(a).received())
	})
}

// The engine forgets a name that the store has forgotten, since it was disconnected for too long.
func TestL18_NameThatTheStoreForgotIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
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
		assert.Equal(t, "Synchronize()", o.again(a).received())
	})
}

// Many missed events delay pods for one timeout. Then they take turns with new events.
func TestL18_ManyMissedEventsBlockNoPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		o.missesMuch()
		start := time.Now()
		o.did("RunPodSandbox:new1")
		assert.LessOrEqual(t, time.Since(start), syncTimeout+3*time.Second)
		start = time.Now()
		o.did("RunPodSandbox:new2")
		assert.LessOrEqual(t, time.Since(start), 3*time.Second)
		time.Sleep(5 * time.Minute)
		assert.Zero(t, o.missed("10-a"))
	})
}

// They also take turns with a stop among the callers that wait, and with any other event.
func TestL18_ManyMissedEventsBlockNoStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		o.missesMuch("here1", "here2")
		time.Sleep(syncTimeout)
		start := time.Now()
		stop, again := o.ends("StopPodSandbox:here1"), o.ends("StopPodSandbox:here2", "RemovePodSandbox:here2")
		o.did("RunPodSandbox:new")
		assert.LessOrEqual(t, time.Since(start), 10*time.Second)
		<-stop
		<-again
		time.Sleep(5 * time.Minute)
		assert.Zero(t, o.missed("10-a"))
	})
}

// Nothing is kept of objects that have gone, whatever a plugin knew and subscribed to, before and
// after it came back.
func TestL18_ObjectsThatHaveGoneLeaveNothing(t *testing.T) {
	wants := maps.Clone(masks)
	wants["no end"] = Kind.First
	for _, knew := range []string{"RunPodSandbox:p1", "CreateContainer:p1/c1"} {
		for wanted := range wants {
			for mask := range wants {
				t.Run(knew+", "+wanted+", then "+mask, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						o := newRemembering(t)
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
