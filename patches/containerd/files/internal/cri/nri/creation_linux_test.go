// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/containerd/containerd/v2/internal/cri/store/label"
	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/nri"
)

// A pod is listed from its first resource on, once, and for as long as it is
// being created or in the store.
func TestPodsInCreationAreListed(t *testing.T) {
	cri := creationCRI{store: sstore.NewStore(label.NewStore(), nil)}
	a := NewAPI(&undoRecorder{}, cri)
	pod := func(id string, state sstore.State) sstore.Sandbox {
		return sstore.NewSandbox(sstore.Metadata{ID: id}, sstore.Status{State: state})
	}
	listed := func() []string {
		var ids []string
		for _, p := range a.ListPodSandboxes() {
			ids = append(ids, nri.PodSandbox(p).GetID())
		}
		slices.Sort(ids)
		return ids
	}

	require.NoError(t, cri.store.Add(pod("ready", sstore.StateReady)))
	require.NoError(t, cri.store.Add(pod("unknown", sstore.StateUnknown)))
	require.Equal(t, []string{"ready"}, listed())

	created := a.CreatingPodSandbox(pod("new", sstore.StateUnknown))
	a.CreatingPodSandbox(pod("new", sstore.StateUnknown))
	require.Equal(t, []string{"new", "ready"}, listed())

	require.NoError(t, cri.store.Add(pod("new", sstore.StateReady)))
	require.Equal(t, []string{"new", "ready"}, listed())
	created()
	require.Equal(t, []string{"new", "ready"}, listed())
	cri.store.Delete("new")
	require.Equal(t, []string{"ready"}, listed())
}

// The end of a creation is told once, however many deferred functions see it.
func TestPodInCreationIsUndoneOnce(t *testing.T) {
	plugins := &undoRecorder{}
	a := NewAPI(plugins, undoCRI{})
	pod := sstore.NewSandbox(sstore.Metadata{ID: "pod0"}, sstore.Status{})
	created := a.CreatingPodSandbox(pod)
	a.UndoRunPodSandbox(&pod)
	a.UndoRunPodSandbox(&pod)
	created()
	require.Equal(t, []string{"stop pod0", "remove pod0"}, plugins.calls)
}

// creationCRI is the rest of CRI: the sandbox store alone.
type creationCRI struct {
	undoCRI
	store *sstore.Store
}

func (c creationCRI) SandboxStore() *sstore.Store { return c.store }
