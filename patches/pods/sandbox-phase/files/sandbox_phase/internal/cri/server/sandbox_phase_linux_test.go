// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// The phases of a sandbox, and their records.
func TestPhasesOfASandbox(t *testing.T) {
	c := newTestCRIService()
	c.config.StateDir = t.TempDir()
	c.config.NetNSMountsUnderStateDir = true
	c.phases = c.openPhases()
	kept := func() map[string]sandboxstore.Phase {
		phases, unreadable := c.phases.Load()
		require.Empty(t, unreadable)
		return phases
	}
	sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod", Config: &runtime.PodSandboxConfig{}}, sandboxstore.Status{})

	require.NoError(t, c.startPhase(&sb))
	require.Contains(t, sb.NetNSPath, c.config.StateDir)
	require.NoFileExists(t, sb.NetNSPath)
	require.Equal(t, map[string]sandboxstore.Phase{"pod": sandboxstore.PhaseCreating}, kept())

	c.endPhase(t.Context(), &sb)
	require.Empty(t, kept())
	require.NoError(t, rejectStopped(&sb))

	beginStop(&sb)
	require.ErrorIs(t, rejectStopped(&sb), errdefs.ErrFailedPrecondition)
	require.Empty(t, kept(), "the stop is repeated after a restart")
	c.stopPhase(t.Context(), &sb)
	require.ErrorIs(t, rejectStopped(&sb), errdefs.ErrFailedPrecondition)
	require.Equal(t, map[string]sandboxstore.Phase{"pod": sandboxstore.PhaseStopped}, kept())

	c.recoverPhases(t.Context())
	require.Empty(t, kept(), "the sandbox is forgotten")
}
