// SPDX-License-Identifier: Apache-2.0

package shim

import (
	"runtime/debug"
	"sync"
	"time"
)

// How much the heap may grow, in percent, before Go collects garbage: a shim that starts has next to
// none, and a collection would cost more than half as much as the rest of its work.
const (
	percentInStart = 100 // Go's own setting: none below four MiB
	percent        = 40
)

// collectGarbage returns memory to the system at each tick. The first one ends the start.
func collectGarbage(ticks <-chan time.Time) {
	endStart := sync.OnceFunc(limitHeap)
	for range ticks {
		endStart()
		debug.FreeOSMemory()
	}
}

// limitHeap leaves the setting as it is if a plugin of the shim has made another one.
func limitHeap() {
	if set := debug.SetGCPercent(percent); set != percentInStart {
		debug.SetGCPercent(set)
	}
}
