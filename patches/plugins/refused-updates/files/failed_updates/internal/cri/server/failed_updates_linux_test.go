// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	containerd "github.com/containerd/containerd/v2/client"
	crinri "github.com/containerd/containerd/v2/internal/cri/nri"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/nri"
	"github.com/containerd/nri/pkg/adaptation"
)

// agreeing plugins note the memory limits that they receive with an update of a pod, and after it.
type agreeing struct {
	nri.API
	asked, held []int64
	undone      []string
}

func (*agreeing) IsEnabled() bool { return true }

func limitOf(r *adaptation.LinuxResources) int64 { return r.GetMemory().GetLimit().GetValue() }

func (p *agreeing) UpdatePodSandbox(_ context.Context, _ nri.PodSandbox, _, resources *adaptation.LinuxResources) error {
	p.asked = append(p.asked, limitOf(resources))
	return nil
}

func (p *agreeing) PostUpdatePodSandbox(_ context.Context, pod nri.PodSandbox) error {
	p.held = append(p.held, limitOf(pod.GetLinuxPodSandbox().GetPodLinuxResources()))
	return nil
}

func (p *agreeing) UndoUpdatePodSandbox(pod string) error {
	p.undone = append(p.undone, pod)
	return nil
}

// An update to which plugins agreed, and which fails, is undone, and no other.
func TestAgreedUpdateThatFailsIsUndone(t *testing.T) {
	c := newTestCRIService()
	controller, store, plugins := &sizedController{}, &sizedRecord{}, &agreeing{}
	store.record.ID = "id"
	client, err := containerd.New("", containerd.WithServices(containerd.WithSandboxStore(store)))
	require.NoError(t, err)
	c.client, c.sandboxService, c.nri = client, controller, crinri.NewAPI(plugins, &criImplementation{c})
	meta := sandboxstore.Metadata{ID: "id", Config: &runtime.PodSandboxConfig{Metadata: &runtime.PodSandboxMetadata{Name: "pod"}}}
	require.NoError(t, c.sandboxStore.Add(sandboxstore.NewSandbox(meta, sandboxstore.Status{})))
	update := func(limit int64) error {
		_, err := c.UpdatePodSandboxResources(t.Context(), &runtime.UpdatePodSandboxResourcesRequest{
			PodSandboxId: "id", Resources: &runtime.LinuxContainerResources{MemoryLimitInBytes: limit}})
		return err
	}

	require.NoError(t, update(300))
	controller.fails = errors.New("no memory left")
	require.ErrorContains(t, update(700), "no memory left")
	require.NoError(t, update(400))
	assert.Equal(t, []int64{300, 700, 400}, plugins.asked)
	assert.Equal(t, []string{"id"}, plugins.undone)
	assert.Equal(t, []int64{300, 400}, plugins.held)
}
