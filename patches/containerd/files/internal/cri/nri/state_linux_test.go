// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/nri/podstate"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/pkg/netns"
)

func TestPodState(t *testing.T) {
	a := NewAPI(&undoRecorder{}, undoCRI{})
	pod := sstore.NewSandbox(sstore.Metadata{ID: "pod0"}, sstore.Status{State: sstore.StateUnknown})
	state := func() podstate.State { return a.nriPodSandbox(&pod).GetState() }
	become := func(s sstore.State) {
		require.NoError(t, pod.Status.Update(func(status sstore.Status) (sstore.Status, error) {
			status.State = s
			return status, nil
		}))
	}

	require.Equal(t, podstate.Unknown, state(), "what is left of a failed creation")
	created := a.CreatingPodSandbox(pod)
	require.Equal(t, podstate.Creating, state())
	become(sstore.StateReady)
	require.Equal(t, podstate.Ready, state(), "ready, and not yet out of the list")
	created()
	become(sstore.StateNotReady)
	require.Equal(t, podstate.Ready, state(), "its process died, its stop is to come")
	pod.NetNS = netns.LoadNetNS("")
	require.Equal(t, podstate.Ready, state(), "it never had a network")
	pod.NetNS = netns.LoadNetNS(filepath.Join(t.TempDir(), "gone"))
	require.Equal(t, podstate.Stopped, state())
	require.Equal(t, podstate.Unknown, a.nriPodSandbox(nil).GetState())
}
