// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

func (s *recordStore) requested(t *testing.T, container string) string {
	t.Helper()
	kept := &podresources.KeptAnnouncement{}
	require.NoError(t, s.record.GetExtension(podResourcesKey, kept))
	return kept.GetConfig().Container(container).GetKubernetesResources().GetRequests()["cpu"].GetValue()
}

// announcingAndKeeping returns a service with a store, and a sandbox.
func announcingAndKeeping(t *testing.T, source podresources.Source) (*criService, *sandboxstore.Sandbox, *recordStore) {
	t.Helper()
	c := newTestCRIService()
	store := withRecord(t, c, "id")
	return c, announcing(t, c, source), store
}

func TestUpdateOfAContainerIsKept(t *testing.T) {
	c, sb, store := announcingAndKeeping(t, podresources.Field)
	r := &runtime.UpdateContainerResourcesRequest{}
	require.NoError(t, podresources.SetUpdate(r, cpu("2")))
	changeContainer(t.Context(), sb, "web", containerUpdate(t.Context(), sb, r))
	c.keepPodResources(t.Context(), sb)
	assert.Equal(t, "2", requested(sb, "web"))
	assert.Equal(t, "2", store.requested(t, "web"))
	assert.Equal(t, []string{"extensions." + podResourcesKey}, store.written, "others write other parts of the record")

	before := sb.Status.Get().PodResources
	changeContainer(t.Context(), sb, "debug", cpu("2"))
	changeContainer(t.Context(), sb, "web", nil)
	assert.Same(t, before, sb.Status.Get().PodResources, "one that is not announced, and an update that does not say")
}

func TestUpdateOfAPodIsKept(t *testing.T) {
	c, sb, store := announcingAndKeeping(t, podresources.Field)
	r := &runtime.UpdatePodSandboxResourcesRequest{}
	assert.Nil(t, podUpdate(t.Context(), sb, r))
	require.NoError(t, podresources.SetPodUpdate(r, webAsks("3")))
	setPodResources(sb, podUpdate(t.Context(), sb, r))
	c.keepPodResources(t.Context(), sb)
	assert.Equal(t, "3", requested(sb, "web"))
	assert.Equal(t, "3", store.requested(t, "web"))
}

// Another update comes while one is written, and is written as well.
func TestLastUpdateIsKept(t *testing.T) {
	c, sb, store := announcingAndKeeping(t, podresources.Field)
	changeContainer(t.Context(), sb, "web", cpu("2"))
	store.during = func() {
		changeContainer(t.Context(), sb, "web", cpu("3"))
		c.keepPodResources(t.Context(), sb)
		require.Equal(t, "3", store.requested(t, "web"))
	}
	c.keepPodResources(t.Context(), sb)
	assert.Equal(t, "3", store.requested(t, "web"))
}

// The request took effect, so it does not fail.
func TestStoreThatFailsIsLogged(t *testing.T) {
	ctx, text := logged(t)
	c, sb, store := announcingAndKeeping(t, podresources.Field)
	store.fails = errors.New("disk is full")
	changeContainer(ctx, sb, "web", cpu("2"))
	c.keepPodResources(ctx, sb)
	assert.Equal(t, "2", requested(sb, "web"))
	assert.Contains(t, text.String(), "disk is full")
}

// A container is created with other resources than announced: they replace those in
// the announcement, so that plugins read the same of both.
func TestResourcesOfANewContainerAreKept(t *testing.T) {
	c, sb, store := announcingAndKeeping(t, podresources.Field)
	c.config.PodResourcesCheck = "warn"
	ctx, text := logged(t)
	config := &runtime.ContainerConfig{
		Metadata: &runtime.ContainerMetadata{Name: "web"},
		Mounts:   []*runtime.Mount{{ContainerPath: "/data", HostPath: "/srv/data"}},
	}
	require.NoError(t, podresources.SetContainer(config, cpu("2")))
	_, err := c.checkAnnounced(ctx, sb, config)
	require.NoError(t, err)
	assert.Contains(t, text.String(), "requests[cpu]: announced 1, got 2")
	assert.Equal(t, "1", requested(sb, "web"), "its creation may still fail")
	c.keepAsked(ctx, sb, config)
	assert.Equal(t, "2", requested(sb, "web"))
	assert.Equal(t, "2", store.requested(t, "web"))

	// It is created again after it was updated.
	c.config.PodResourcesCheck = "enforce"
	_, err = c.checkAnnounced(ctx, sb, config)
	assert.NoError(t, err)
}
