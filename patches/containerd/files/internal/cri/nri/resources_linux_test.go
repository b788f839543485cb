// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

func TestResourcesOfAPod(t *testing.T) {
	kept, asked := &podresources.PodResourceConfig{}, &podresources.PodResourceConfig{}
	sandbox := sstore.NewSandbox(sstore.Metadata{}, sstore.Status{PodResources: kept})
	pod := &criPodSandbox{Sandbox: &sandbox}
	assert.Same(t, kept, pod.GetPodResources())
	pod.asks(WithPodResources(t.Context(), nil))
	assert.Same(t, kept, pod.GetPodResources(), "the request does not say")
	pod.asks(WithPodResources(t.Context(), asked))
	assert.Same(t, asked, pod.GetPodResources())
	assert.Nil(t, (&criPodSandbox{}).GetPodResources())
}

func TestResourcesOfAContainer(t *testing.T) {
	kept, asked := &podresources.KubernetesResources{}, &podresources.KubernetesResources{}
	ctr := &criContainer{asked: kept}
	ctr.asks(WithContainerResources(t.Context(), nil))
	assert.Same(t, kept, ctr.GetKubernetesResources(), "the request does not say")
	ctr.asks(WithContainerResources(t.Context(), asked))
	assert.Same(t, asked, ctr.GetKubernetesResources())
}
