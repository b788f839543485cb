// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/podstate/internal/nri/podstate"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

func TestPodState(t *testing.T) {
	cri := newCreationCRI()
	a := NewAPI(&undoRecorder{}, cri)
	pod := sstore.NewSandbox(sstore.Metadata{ID: "pod0"}, sstore.Status{State: sstore.StateUnknown, Phase: sstore.PhaseCreating})
	state := func() podstate.State { return a.nriPodSandbox(&pod).GetState() }
	become := func(s sstore.State, phase sstore.Phase) {
		require.NoError(t, pod.Status.Update(func(status sstore.Status) (sstore.Status, error) {
			status.State, status.Phase = s, phase
			return status, nil
		}))
	}

	require.Equal(t, podstate.Unknown, state(), "left behind by a creation")
	creation := cri.creations.Begin(pod)
	require.Equal(t, podstate.Creating, state())
	become(sstore.StateReady, "")
	require.Equal(t, podstate.Ready, state(), "ready, and still in the list of creations")
	creation.End()
	become(sstore.StateNotReady, "")
	require.Equal(t, podstate.Ready, state(), "its process died, and it is not stopped yet")
	become(sstore.StateNotReady, sstore.PhaseStopped)
	require.Equal(t, podstate.Stopped, state())
	become(sstore.StateNotReady, sstore.PhaseCreating)
	require.Equal(t, podstate.Unknown, state(), "left behind by a creation, and its process died")
	require.Equal(t, podstate.Unknown, a.nriPodSandbox(nil).GetState())
}
