// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// A sandbox comes back ready if it was ready, and only then.
func TestRecoveredPhase(t *testing.T) {
	for name, tc := range map[string]struct {
		phase  sandboxstore.Phase
		state  sandboxstore.State
		become sandboxstore.State
	}{
		"ready":               {"", sandboxstore.StateReady, sandboxstore.StateReady},
		"died":                {"", sandboxstore.StateNotReady, sandboxstore.StateNotReady},
		"cut, runs":           {sandboxstore.PhaseCreating, sandboxstore.StateReady, sandboxstore.StateUnknown},
		"cut, never ran":      {sandboxstore.PhaseCreating, sandboxstore.StateNotReady, sandboxstore.StateUnknown},
		"stop told, runs":     {sandboxstore.PhaseStopped, sandboxstore.StateReady, sandboxstore.StateUnknown},
		"stopped and is gone": {sandboxstore.PhaseStopped, sandboxstore.StateNotReady, sandboxstore.StateNotReady},
	} {
		t.Run(name, func(t *testing.T) {
			sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{State: tc.state})
			recoverPhase(&sb, map[string]sandboxstore.Phase{"pod": tc.phase})
			require.Equal(t, tc.become, sb.Status.Get().State)
			require.Equal(t, tc.phase, sb.Status.Get().Phase)
		})
	}
}

// The phases of a sandbox, and those that are recorded.
func TestPhasesOfASandbox(t *testing.T) {
	c := newTestCRIService()
	c.config.RootDir, c.config.StateDir = t.TempDir(), t.TempDir()
	c.config.NetNSMountsUnderStateDir = true
	require.NoError(t, c.openPhases())
	kept := func() map[string]sandboxstore.Phase {
		phases, err := c.phases.Load()
		require.NoError(t, err)
		return phases
	}
	sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod", Config: &runtime.PodSandboxConfig{}}, sandboxstore.Status{})

	require.NoError(t, c.startPhase(&sb))
	require.Contains(t, sb.NetNSPath, c.config.StateDir)
	require.NoFileExists(t, sb.NetNSPath)
	require.Equal(t, map[string]sandboxstore.Phase{"pod": sandboxstore.PhaseCreating}, kept())

	c.endPhase(t.Context(), &sb)
	require.Empty(t, kept())
	require.NoError(t, refuseStopped(&sb))

	beginStop(&sb)
	require.ErrorIs(t, refuseStopped(&sb), errdefs.ErrFailedPrecondition)
	require.Empty(t, kept(), "the stop is done again after a restart")
	c.stopPhase(t.Context(), &sb)
	require.ErrorIs(t, refuseStopped(&sb), errdefs.ErrFailedPrecondition)
	require.Equal(t, map[string]sandboxstore.Phase{"pod": sandboxstore.PhaseStopped}, kept())

	c.forgetPhases(t.Context(), kept())
	require.Empty(t, kept(), "nothing is known of the sandbox")
}
