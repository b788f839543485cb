// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Close waits for the callers inside. From its begin, no other caller can enter.
func TestEntryClosesBehindTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewEntry()
		require.True(t, e.Enter())
		require.True(t, e.Enter())
		require.False(t, e.Closed())

		closed := make(chan error, 1)
		go func() { closed <- e.Close(t.Context()) }()
		synctest.Wait()
		require.True(t, e.Closed())
		require.False(t, e.Enter())
		e.Leave()
		synctest.Wait()
		require.Empty(t, closed, "one caller is inside")
		e.Leave()
		require.NoError(t, <-closed)
		require.False(t, e.Enter())
		require.NoError(t, e.Close(t.Context()), "a second time")
	})
}

// A caller that hangs inside delays Close no longer than the context of Close allows.
func TestEntryIsClosedWhileCallsHangInside(t *testing.T) {
	e := NewEntry()
	require.True(t, e.Enter())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, e.Close(gone), context.Canceled)
	require.True(t, e.Closed())
	require.False(t, e.Enter())
	e.Leave()
	require.NoError(t, e.Close(t.Context()))
}
