// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Abort waits until the creation is rolled back.
func TestAbortWaitsForTheRollBack(t *testing.T) {
	var c Creations
	stopped := errors.New("stopped")
	require.NoError(t, c.Abort(t.Context(), "none", stopped))

	n := c.Begin(creating("pod"))
	ctx := n.Context(t.Context())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, c.Abort(gone, "pod", stopped), context.Canceled)

	aborted := make(chan error)
	go func() { aborted <- c.Abort(t.Context(), "pod", stopped) }()
	<-ctx.Done()
	select {
	case <-aborted:
		t.Fatal("Abort returned before the creation was over")
	default:
	}
	require.ErrorIs(t, n.Explain(ctx.Err()), stopped)
	n.End()
	require.NoError(t, <-aborted)
	n.End() // as RunPodSandbox does, for a pod that is ready
	require.NoError(t, c.Abort(t.Context(), "pod", stopped))
}
