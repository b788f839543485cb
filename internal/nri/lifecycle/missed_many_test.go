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

// Nothing is written for plugins that are there and answer.
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

// An operator forgets a name: nothing is kept for it from then on.
func TestL18_NameIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
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
		assert.Equal(t, "Synchronize()", o.again(a).received())
	})
}

// What the store has forgotten, as what was disconnected for too long, is not kept here either.
func TestL18_NameThatIsNotKeptIsForgotten(t *testing.T) {
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

// Much that was missed holds up pods for one timeout; then they take turns with it.
func TestL18_MuchHoldsUpNoPods(t *testing.T) {
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

// So it is with a stop among those who wait, and with whatever else.
func TestL18_MuchHoldsUpNoStops(t *testing.T) {
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

// Whatever it knew and wanted, and wants when it is back: nothing is kept of what has gone.
func TestL18_NothingIsKeptOfWhatHasGone(t *testing.T) {
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
