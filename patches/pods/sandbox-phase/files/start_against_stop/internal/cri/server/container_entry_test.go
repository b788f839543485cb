// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// Containers are accepted until the stop begins. A sandbox that was stopped before a restart
// accepts none.
func TestContainersEnterUntilTheStop(t *testing.T) {
	sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{})
	first := entrant{sandbox: &sb}
	first.leave()
	require.NoError(t, first.rejected())
	require.NoError(t, first.enter())
	first.leave()
	first.leave()

	closeEntry(t.Context(), &sb)
	require.ErrorIs(t, first.rejected(), errdefs.ErrFailedPrecondition)
	second := entrant{sandbox: &sb}
	require.ErrorIs(t, second.enter(), errdefs.ErrFailedPrecondition)
	second.leave()

	stopped := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{Phase: sandboxstore.PhaseStopped})
	third := entrant{sandbox: &stopped}
	require.ErrorIs(t, third.enter(), errdefs.ErrFailedPrecondition)
	third.leave()
	require.NoError(t, stopped.Entry.Close(t.Context()))
}
