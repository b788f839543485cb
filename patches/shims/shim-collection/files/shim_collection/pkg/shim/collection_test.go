// SPDX-License-Identifier: Apache-2.0

package shim

import (
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A shim has Go's own setting until the first tick, and keeps what a plugin of it has set.
func TestHeapIsLimitedAfterTheStart(t *testing.T) {
	before := debug.SetGCPercent(percent)
	defer debug.SetGCPercent(before)
	setRuntime()
	started := debug.SetGCPercent(percentInStart)
	require.Equal(t, percentInStart, started)

	tick := func() int {
		ticks := make(chan time.Time, 1)
		ticks <- time.Now()
		close(ticks)
		collectGarbage(ticks)
		return debug.SetGCPercent(percentInStart)
	}
	require.Equal(t, 40, tick())
	debug.SetGCPercent(70)
	require.Equal(t, 70, tick())
}
