// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/containerd/typeurl/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	"google.golang.org/protobuf/types/known/anypb"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/metadata"
	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/labels"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/util"
)

// ofOneName is a sandboxer whose sandboxes all have one name.
type ofOneName struct{ *fakeSandboxService }

func (ofOneName) SandboxController(string) (sandbox.Controller, error) { return &oneName{}, nil }

type oneName struct{ fakeSandboxController }

func (*oneName) RecoverContainer(_ context.Context, c containerd.Container) (sandboxstore.Sandbox, error) {
	return sandboxstore.NewSandbox(sandboxstore.Metadata{ID: c.ID(), Name: "pod"}, sandboxstore.Status{State: sandboxstore.StateNotReady}), nil
}

// Two sandboxes of one name, or a record that cannot be read, do not prevent CRI from starting
// and recovering the rest.
func TestRestIsRecovered(t *testing.T) {
	db, err := bolt.Open(filepath.Join(t.TempDir(), "meta.db"), 0o600, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	meta, ctx := metadata.NewDB(db, nil, nil), util.NamespacedContext()
	running, records := metadata.NewContainerStore(meta), metadata.NewSandboxStore(meta)
	spec, err := typeurl.MarshalAny(&sandboxstore.Metadata{ID: "healthy", Name: "healthy"})
	require.NoError(t, err)
	for _, id := range []string{"first", "second"} {
		_, err := running.Create(ctx, containers.Container{
			ID: id, Labels: map[string]string{labels.ContainerKindLabel: labels.ContainerKindSandbox},
			Runtime: containers.RuntimeInfo{Name: "runc"}, Spec: spec,
		})
		require.NoError(t, err)
	}
	for id, extension := range map[string]typeurl.Any{
		"healthy":    spec,
		"unreadable": &anypb.Any{TypeUrl: spec.GetTypeUrl(), Value: []byte("{")},
	} {
		_, err := records.Create(ctx, sandbox.Sandbox{
			ID: id, Runtime: sandbox.RuntimeOpts{Name: "runc"}, Extensions: map[string]typeurl.Any{podsandbox.MetadataKey: extension},
		})
		require.NoError(t, err)
	}

	c := newTestCRIService()
	c.config.RootDir, c.config.StateDir = t.TempDir(), t.TempDir()
	c.sandboxService = ofOneName{&fakeSandboxService{}}
	c.client, err = containerd.New("", containerd.WithServices(containerd.WithContainerStore(running), containerd.WithSandboxStore(records)))
	require.NoError(t, err)
	require.NoError(t, c.recover(ctx))
	for _, id := range []string{"first", "second", "healthy"} {
		sb, err := c.sandboxStore.Get(id)
		require.NoError(t, err, "two sandboxes of one name can both be removed by their id, and other sandboxes are unchanged")
		assert.Empty(t, sb.Status.Get().Unreadable)
	}
	sb, err := c.sandboxStore.Get("unreadable")
	require.NoError(t, err, "it is known")
	assert.Equal(t, sandboxstore.StateUnknown, sb.Status.Get().State)
	assert.Contains(t, sb.Status.Get().Unreadable, "metadata")
	assert.NotNil(t, sb.Config.GetMetadata(), "the kubelet reads it")
	_, err = records.Get(ctx, "unreadable")
	assert.NoError(t, err, "its record is kept")
}

// The known part of lost metadata of a container comes from the rest of its record.
func TestKnownOfContainer(t *testing.T) {
	meta := knownOfContainer(containers.Container{
		ID: "container", SandboxID: "pod", Image: "image",
		Labels: map[string]string{labels.ContainerKindLabel: labels.ContainerKindContainer, labels.KubernetesContainerNameLabel: "main", "own": "label"},
	})
	assert.Equal(t, "pod", meta.SandboxID)
	assert.Equal(t, "main", meta.Config.GetMetadata().GetName())
	assert.Equal(t, map[string]string{labels.KubernetesContainerNameLabel: "main", "own": "label"}, meta.Config.GetLabels())
	assert.Equal(t, "container", knownOfContainer(containers.Container{ID: "container"}).Config.GetMetadata().GetName())
}
