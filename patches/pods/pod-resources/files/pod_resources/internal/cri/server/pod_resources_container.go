// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/cri/nri"
	"github.com/containerd/containerd/v2/internal/cri/podresources"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// withResources has the context carry the resources of a new container: its own, or as
// announced.
func withResources(ctx context.Context, sb *sandboxstore.Sandbox, config *runtime.ContainerConfig) context.Context {
	asked, err := podresources.FromContainer(config)
	if err != nil {
		ignoreResources(ctx, sb, "container", err)
	}
	if asked == nil {
		asked = sb.Status.Get().PodResources.Container(config.GetMetadata().GetName()).GetKubernetesResources()
	}
	return nri.WithContainerResources(ctx, asked)
}

// keepAsked takes the resources that a container was created with into the
// announcement of its pod.
func (c *criService) keepAsked(ctx context.Context, sb *sandboxstore.Sandbox, config *runtime.ContainerConfig) {
	announced := sb.Status.Get().PodResources
	asked, _ := podresources.FromContainer(config) // what cannot be read was counted by withResources
	changeContainer(ctx, sb, config.GetMetadata().GetName(), func() *podresources.KubernetesResources { return asked })
	if sb.Status.Get().PodResources != announced {
		c.keepPodResources(ctx, sb)
	}
}
