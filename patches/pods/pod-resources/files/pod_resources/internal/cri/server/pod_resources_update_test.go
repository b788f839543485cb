// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/nri"
	"github.com/containerd/containerd/v2/internal/cri/podresources"
	containerstore "github.com/containerd/containerd/v2/internal/cri/store/container"
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

func always(asked *podresources.KubernetesResources) func() *podresources.KubernetesResources {
	return func() *podresources.KubernetesResources { return asked }
}

func TestUpdateOfAContainerIsKept(t *testing.T) {
	c, sb, store := announcingAndKeeping(t, podresources.Field)
	r := &runtime.UpdateContainerResourcesRequest{}
	require.NoError(t, podresources.SetUpdate(r, cpu("2")))
	changeContainer(t.Context(), sb, "web", always(containerUpdate(t.Context(), sb, r)))
	c.keepPodResources(t.Context(), sb)
	assert.Equal(t, "2", requested(sb, "web"))
	assert.Equal(t, "2", store.requested(t, "web"))
	assert.Equal(t, []string{"extensions." + podResourcesKey}, store.written, "other updates write other parts of the record")

	before := sb.Status.Get().PodResources
	changeContainer(t.Context(), sb, "debug", always(cpu("2")))
	changeContainer(t.Context(), sb, "web", always(nil))
	assert.Same(t, before, sb.Status.Get().PodResources, "the container is not announced, and the update has no resources")
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

// A deliveredController keeps the record that it receives of a sandbox.
type deliveredController struct {
	fakeSandboxService
	record sandbox.Sandbox
}

func (c *deliveredController) UpdateSandbox(_ context.Context, _ string, _ string, record sandbox.Sandbox, _ ...string) error {
	c.record = record
	return nil
}

func updateOfAPod(t *testing.T, amount string) *runtime.UpdatePodSandboxResourcesRequest {
	t.Helper()
	r := &runtime.UpdatePodSandboxResourcesRequest{PodSandboxId: "id", Resources: &runtime.LinuxContainerResources{CpuQuota: 200}}
	require.NoError(t, podresources.SetPodUpdate(r, webAsks(amount)))
	return r
}

// A controller that sizes a VM needs the resources of the current request.
func TestControllerGetsTheUpdateOfAPod(t *testing.T) {
	c, sb, store := announcingAndKeeping(t, podresources.Field)
	received := &deliveredController{}
	c.sandboxService = received
	require.NoError(t, c.sandboxStore.Add(*sb))

	_, err := c.UpdatePodSandboxResources(t.Context(), updateOfAPod(t, "3"))
	require.NoError(t, err)
	assert.Equal(t, "3", (&recordStore{record: received.record}).requested(t, "web"))
	assert.Equal(t, "3", store.requested(t, "web"))
	assert.Equal(t, "3", requested(sb, "web"))
	assert.EqualValues(t, 200, sb.Status.Get().Resources.GetLinux().GetCpuQuota())
	both := []string{"extensions.updated-resources", "extensions." + podResourcesKey}
	assert.Equal(t, both, store.written[:2], "both in one write, and other updates write other parts of the record")
}

// An update that cannot be written would be lost by a restart, so it fails.
func TestUpdateOfAPodThatCannotBeWrittenIsNotRemembered(t *testing.T) {
	c, sb, store := announcingAndKeeping(t, podresources.Field)
	require.NoError(t, c.sandboxStore.Add(*sb))
	store.full = errors.New("disk is full")
	before := sb.Status.Get()

	_, err := c.UpdatePodSandboxResources(t.Context(), updateOfAPod(t, "3"))
	require.ErrorContains(t, err, "disk is full")
	assert.Equal(t, before, sb.Status.Get())
}

// The status of a container is written before its pod follows.
func TestPodFollowsItsContainer(t *testing.T) {
	_, sb, _ := announcingAndKeeping(t, podresources.Field)
	container, err := containerstore.NewContainer(
		containerstore.Metadata{ID: "c", Config: &runtime.ContainerConfig{Metadata: &runtime.ContainerMetadata{Name: "web"}}},
		containerstore.WithStatus(containerstore.Status{CreatedAt: 1}, t.TempDir()))
	require.NoError(t, err)
	followContainer(t.Context(), sb, &container)
	assert.Equal(t, "1", requested(sb, "web"), "the container has none of its own")
	require.NoError(t, container.Status.UpdateSync(func(status containerstore.Status) (containerstore.Status, error) {
		status.KubernetesResources = cpu("2")
		return status, nil
	}))
	followContainer(t.Context(), sb, &container)
	assert.Equal(t, "2", requested(sb, "web"))
}

// An update that arrives while another one is written is written as well.
func TestLastUpdateIsKept(t *testing.T) {
	c, sb, store := announcingAndKeeping(t, podresources.Field)
	changeContainer(t.Context(), sb, "web", always(cpu("2")))
	store.during = func() {
		changeContainer(t.Context(), sb, "web", always(cpu("3")))
		c.keepPodResources(t.Context(), sb)
		require.Equal(t, "3", store.requested(t, "web"))
	}
	c.keepPodResources(t.Context(), sb)
	assert.Equal(t, "3", store.requested(t, "web"))
}

// The request has taken effect, so it does not fail.
func TestStoreThatFailsIsLogged(t *testing.T) {
	ctx, text := logged(t)
	c, sb, store := announcingAndKeeping(t, podresources.Field)
	store.fails = errors.New("disk is full")
	changeContainer(ctx, sb, "web", always(cpu("2")))
	c.keepPodResources(ctx, sb)
	assert.Equal(t, "2", requested(sb, "web"))
	assert.Contains(t, text.String(), "disk is full")
}

// A container's own resources take precedence over the announced ones.
func TestResourcesOfANewContainer(t *testing.T) {
	_, sb, _ := announcingAndKeeping(t, podresources.Field)
	for name, tc := range map[string]struct {
		name string
		asks *podresources.KubernetesResources
		cpu  string
	}{
		"as announced":        {name: "web", cpu: "1"},
		"asks":                {name: "web", asks: cpu("1000m"), cpu: "1000m"},
		"ephemeral":           {name: "debug"},
		"ephemeral that asks": {name: "debug", asks: cpu("1"), cpu: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			config := &runtime.ContainerConfig{Metadata: &runtime.ContainerMetadata{Name: tc.name}}
			require.NoError(t, podresources.SetContainer(config, tc.asks))
			ctx := withResources(t.Context(), sb, config)
			assert.Equal(t, tc.cpu, nri.ContainerResources(ctx).GetRequests()["cpu"].GetValue())
		})
	}
}

// The resources with which a container is created replace those in the announcement, so that
// plugins read the same from both.
func TestResourcesOfANewContainerAreKept(t *testing.T) {
	c, sb, store := announcingAndKeeping(t, podresources.Field)
	config := &runtime.ContainerConfig{Metadata: &runtime.ContainerMetadata{Name: "web"}}
	require.NoError(t, podresources.SetContainer(config, cpu("2")))
	withResources(t.Context(), sb, config)
	assert.Equal(t, "1", requested(sb, "web"), "its creation may still fail")
	c.keepAsked(t.Context(), sb, config)
	assert.Equal(t, "2", requested(sb, "web"))
	assert.Equal(t, "2", store.requested(t, "web"))
}
