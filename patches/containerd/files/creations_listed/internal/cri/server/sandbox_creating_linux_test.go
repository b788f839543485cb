// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"slices"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/nri"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	corenri "github.com/containerd/containerd/v2/internal/nri"
)

// toldOfEnds stands in for the NRI plugins of a node. It notes what they are told.
type toldOfEnds struct {
	corenri.API
	calls []string
}

func (*toldOfEnds) IsEnabled() bool                           { return true }
func (*toldOfEnds) BlockPluginSync() *corenri.PluginSyncBlock { return nil }

func (p *toldOfEnds) StopPodSandbox(_ context.Context, pod corenri.PodSandbox) error {
	p.calls = append(p.calls, "stop "+pod.GetID())
	return nil
}

func (p *toldOfEnds) RemovePodSandbox(_ context.Context, pod corenri.PodSandbox) error {
	p.calls = append(p.calls, "remove "+pod.GetID())
	return nil
}

// noRecords is a store of sandboxes without one.
type noRecords struct{ sandbox.Store }

func (noRecords) Get(context.Context, string) (sandbox.Sandbox, error) {
	return sandbox.Sandbox{}, errdefs.ErrNotFound
}

// A pod is listed to plugins while it is created, once if it is in the store as well. One that
// fails is not listed any more when plugins are told of its end.
func TestSandboxIsListedWhileItIsCreated(t *testing.T) {
	c := newTestCRIService()
	client, err := containerd.New("", containerd.WithServices(containerd.WithSandboxStore(noRecords{})))
	require.NoError(t, err)
	c.client = client
	plugins := &toldOfEnds{}
	c.nri = nri.NewAPI(plugins, &criImplementation{c})
	listed := func() (ids []string) {
		for _, pod := range c.nri.ListPodSandboxes() {
			ids = append(ids, pod.GetID())
		}
		slices.Sort(ids)
		return ids
	}
	pod := func(id string) sandboxstore.Sandbox {
		return sandboxstore.NewSandbox(sandboxstore.Metadata{ID: id}, sandboxstore.Status{State: sandboxstore.StateReady})
	}

	made, failed := pod("made"), pod("failed")
	c.creating.Put(made)
	c.creating.Put(failed)
	require.Equal(t, []string{"failed", "made"}, listed())
	require.NoError(t, c.sandboxStore.Add(made))
	require.Equal(t, []string{"failed", "made"}, listed())

	c.endCreating(&made, false)
	require.Empty(t, plugins.calls)
	c.endCreating(&failed, true)
	require.Equal(t, []string{"made"}, listed())
	require.Equal(t, []string{"stop failed", "remove failed"}, plugins.calls)
}
