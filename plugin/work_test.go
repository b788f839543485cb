// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Work is tried again after a pause, and each try has its limit.
func TestWorkIsTriedUntilItSucceeds(t *testing.T) {
	busy, first := errors.New("busy"), make(chan error, 1)
	var tries int
	var pauses time.Duration
	do := work(func(ctx context.Context) error {
		deadline, ok := ctx.Deadline()
		require.True(t, ok)
		require.LessOrEqual(t, time.Until(deadline), longestTry)
		if tries++; tries < 4 {
			return busy
		}
		return nil
	})
	began := time.Now()
	do.untilDone(t.Context(), first, func(err error, pause time.Duration) {
		require.Equal(t, busy, err)
		pauses += pause
	})
	require.Equal(t, busy, <-first)
	require.Equal(t, 4, tries)
	require.GreaterOrEqual(t, time.Since(began), pauses)
	require.GreaterOrEqual(t, pauses, 3*shortestPause/2)
}
