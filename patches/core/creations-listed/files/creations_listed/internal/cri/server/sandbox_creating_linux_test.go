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

// receivedEnds stands in for the NRI plugins of a node. It notes the ends that they receive.
type receivedEnds struct {
	corenri.API
	calls chan string
}

func (*receivedEnds) IsEnabled() bool                           { return true }
func (*receivedEnds) BlockPluginSync() *corenri.PluginSyncBlock { return nil }

func (p *receivedEnds) StopPodSandbox(_ context.Context, pod corenri.PodSandbox) error {
	p.calls <- "stop " + pod.GetID()
	return nil
}

func (p *receivedEnds) RemovePodSandbox(_ context.Context, pod corenri.PodSandbox) error {
	p.calls <- "remove " + pod.GetID()
	return nil
}

// noRecords is a store of sandboxes without one.
type noRecords struct{ sandbox.Store }

func (noRecords) Get(context.Context, string) (sandbox.Sandbox, error) {
	return sandbox.Sandbox{}, errdefs.ErrNotFound
}

// A pod is listed to plugins while it is created, once if it is in the store as well. If its
// creation fails, it is not listed any more when plugins receive its end.
func TestSandboxIsListedWhileItIsCreated(t *testing.T) {
	c := newTestCRIService()
	client, err := containerd.New("", containerd.WithServices(containerd.WithSandboxStore(noRecords{})))
	require.NoError(t, err)
	c.client = client
	plugins := &receivedEnds{calls: make(chan string)}
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

	made, failed, unseen := pod("made"), pod("failed"), pod("unseen")
	c.creating.Put(made)
	c.creating.Put(failed)
	require.Equal(t, []string{"failed", "made"}, listed())
	require.NoError(t, c.sandboxStore.Add(made))
	require.Equal(t, []string{"failed", "made"}, listed())
	c.creating.Delete(made.ID)

	c.creating.Put(failed) // with its current state
	c.endCreating(failed)
	require.Equal(t, []string{"made"}, listed())
	require.Equal(t, "stop failed", <-plugins.calls)
	require.Equal(t, "remove failed", <-plugins.calls)

	c.creating.Put(unseen)
	require.False(t, c.creating.Delete(unseen.ID), "no plugin has received it, and none may receive its end")
}

// A pod that is not started has the network namespace of CRI's metadata.
func TestNamespaceOfASandboxThatIsCreated(t *testing.T) {
	c := newTestCRIService()
	client, err := containerd.New("", containerd.WithServices(containerd.WithSandboxStore(noRecords{})))
	require.NoError(t, err)
	c.client = client
	c.nri = nri.NewAPI(&receivedEnds{}, &criImplementation{c})
	path := t.TempDir() // stands for the file of the namespace
	c.creating.Put(sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod", NetNSPath: path}, sandboxstore.Status{}))

	pods := c.nri.ListPodSandboxes()
	require.Len(t, pods, 1)
	namespaces := pods[0].GetLinuxPodSandbox().GetLinuxNamespaces()
	require.Len(t, namespaces, 1)
	require.Equal(t, "network", namespaces[0].GetType())
	require.Equal(t, path, namespaces[0].GetPath())
}
