// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"

	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/containerd/containerd/v2/internal/cri/annotations"
	"github.com/containerd/containerd/v2/internal/cri/podresources"
	"github.com/containerd/containerd/v2/internal/cri/store/label"
	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

func cpu(amount string) *podresources.KubernetesResources {
	return &podresources.KubernetesResources{Requests: map[string]*wrapperspb.StringValue{"cpu": wrapperspb.String(amount)}}
}

// announcing is an announcement of a container "web".
func announcing(t *testing.T, amount string) *podresources.Announcement {
	t.Helper()
	a, err := podresources.NewAnnouncement(&podresources.PodResourceConfig{Containers: []*podresources.ContainerResourceConfig{{
		Name: "web", KubernetesResources: cpu(amount),
	}}}, podresources.Field)
	require.NoError(t, err)
	return a
}

func TestResourcesOfAPod(t *testing.T) {
	kept, asked := announcing(t, "1"), announcing(t, "2")
	sandbox := sstore.NewSandbox(sstore.Metadata{}, sstore.Status{PodResources: kept})
	pod := &criPodSandbox{Sandbox: &sandbox}
	assert.Equal(t, kept.Wire(), pod.GetPodResources())
	pod.asks(WithPodResources(t.Context(), nil))
	assert.Equal(t, kept.Wire(), pod.GetPodResources(), "the request has none")
	pod.asks(WithPodResources(t.Context(), asked))
	assert.Equal(t, asked.Wire(), pod.GetPodResources())
	assert.Nil(t, (&criPodSandbox{}).GetPodResources())
}

// sandboxes is a CRI that has only sandboxes.
type sandboxes struct {
	CRIImplementation
	store *sstore.Store
}

func (s *sandboxes) SandboxStore() *sstore.Store { return s.store }

// The announcement takes precedence over the container's own resources, and the current
// request over the announcement, which each update changes.
func TestResourcesOfAContainer(t *testing.T) {
	store := sstore.NewStore(label.NewStore(), nil)
	require.NoError(t, store.Add(sstore.NewSandbox(sstore.Metadata{ID: "pod"}, sstore.Status{PodResources: announcing(t, "1")})))
	container := func(pod, name string) *criContainer {
		return &criContainer{
			api:  &API{cri: &sandboxes{store: store}},
			spec: &runtimespec.Spec{Annotations: map[string]string{annotations.SandboxID: pod, annotations.ContainerName: name}},
			own:  cpu("2"),
		}
	}
	assert.Equal(t, cpu("1").Wire(), container("pod", "web").GetKubernetesResources())
	assert.Equal(t, cpu("2").Wire(), container("pod", "debug").GetKubernetesResources(), "it is not announced")
	assert.Equal(t, cpu("2").Wire(), container("none", "web").GetKubernetesResources(), "the pod is gone")

	ctr := container("pod", "web")
	ctr.asks(WithContainerResources(t.Context(), nil))
	assert.Equal(t, cpu("1").Wire(), ctr.GetKubernetesResources(), "the request has none")
	ctr.asks(WithContainerResources(t.Context(), cpu("3")))
	assert.Equal(t, cpu("3").Wire(), ctr.GetKubernetesResources())

	ctr = container("pod", "debug")
	ctr.own = nil
	assert.Nil(t, ctr.GetKubernetesResources())
}
