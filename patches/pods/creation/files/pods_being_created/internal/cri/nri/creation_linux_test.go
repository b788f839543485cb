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

// A pod is listed once, from its first resource on, for as long as it is being created or in
// the store.
func TestPodsBeingCreatedAreListed(t *testing.T) {
	cri := newCreationCRI()
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
	require.NoError(t, cri.store.Add(pod("left", sstore.StateUnknown)))
	require.Equal(t, []string{"left", "ready"}, listed())

	creation := cri.creations.Begin(pod("new", sstore.StateUnknown))
	require.Equal(t, []string{"left", "new", "ready"}, listed())

	require.NoError(t, cri.store.Add(pod("new", sstore.StateReady)))
	require.Equal(t, []string{"left", "new", "ready"}, listed())
	creation.End()
	require.Equal(t, []string{"left", "new", "ready"}, listed())
	cri.store.Delete("new")
	require.Equal(t, []string{"left", "ready"}, listed())
}

// creationCRI is a CRI that has a sandbox store and creations.
type creationCRI struct {
	undoCRI
	store     *sstore.Store
	creations *sstore.Creations
}

func newCreationCRI() creationCRI {
	return creationCRI{store: sstore.NewStore(label.NewStore(), nil), creations: &sstore.Creations{}}
}

func (c creationCRI) SandboxStore() *sstore.Store { return c.store }

func (c creationCRI) CreatingSandboxes() *sstore.Creations { return c.creations }

func (undoCRI) CreatingSandboxes() *sstore.Creations { return &sstore.Creations{} }
