// SPDX-License-Identifier: Apache-2.0

package podsandbox

import (
	"context"
	"errors"
	"testing"

	"github.com/containerd/typeurl/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/sandbox"
	crilabels "github.com/containerd/containerd/v2/internal/cri/labels"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox/types"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

func TestBeforeStart(t *testing.T) {
	require.NoError(t, BeforeStart(t.Context(), "", nil))
	rejected := errors.New("rejected")
	assert.Equal(t, rejected, BeforeStart(WithBeforeStart(t.Context(), func() error { return rejected }), "", nil))
	done := false
	require.NoError(t, BeforeStart(WithBeforeStart(t.Context(), func() error { done = true; return nil }), "", nil))
	assert.True(t, done)
}

// recordedContainer is a container whose record can be changed.
type recordedContainer struct {
	containerd.Container
	record containers.Container
}

func (c *recordedContainer) Update(ctx context.Context, opts ...containerd.UpdateContainerOpts) error {
	for _, opt := range opts {
		if err := opt(ctx, nil, &c.record); err != nil {
			return err
		}
	}
	return nil
}

func TestUpdateAddsTheNetworkToTheContainer(t *testing.T) {
	was, err := typeurl.MarshalAny(&sandboxstore.Metadata{ID: "pod", ProcessLabel: "label"})
	require.NoError(t, err)
	container := &recordedContainer{record: containers.Container{Extensions: map[string]typeurl.Any{crilabels.SandboxMetadataExtension: was}}}
	c := &Controller{store: NewStore()}
	pod := types.NewPodSandbox("pod", sandboxstore.Status{})
	pod.Container = container
	require.NoError(t, c.store.Save(pod))
	info := sandbox.Sandbox{ID: "pod"}
	require.NoError(t, info.AddExtension(MetadataKey, &sandboxstore.Metadata{ID: "pod", IP: "10.1.2.3"}))

	recorded := func() (metadata sandboxstore.Metadata) {
		require.NoError(t, typeurl.UnmarshalTo(container.record.Extensions[crilabels.SandboxMetadataExtension], &metadata))
		return metadata
	}
	require.NoError(t, c.Update(t.Context(), "pod", info, "extensions"))
	assert.Empty(t, recorded().IP, "an update of resources")
	require.NoError(t, c.Update(t.Context(), "pod", info, NetworkKey))
	assert.Equal(t, "10.1.2.3", recorded().IP)
	assert.Equal(t, "label", recorded().ProcessLabel)
	assert.Equal(t, "10.1.2.3", pod.Metadata.IP)

	require.NoError(t, c.Update(t.Context(), "gone", info, NetworkKey))
	require.Error(t, c.Update(t.Context(), "pod", sandbox.Sandbox{ID: "pod"}, NetworkKey))
	container.record.Extensions = nil
	require.Error(t, c.Update(t.Context(), "pod", info, NetworkKey))
}
