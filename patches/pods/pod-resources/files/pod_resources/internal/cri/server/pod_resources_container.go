// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/cri/nri"
	"github.com/containerd/containerd/v2/internal/cri/podresources"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// withResources adds the resources of a new container to the context: its own, or else the
// announced ones.
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

// keepAsked copies the resources with which a container was created into the announcement of
// its pod.
func (c *criService) keepAsked(ctx context.Context, sb *sandboxstore.Sandbox, config *runtime.ContainerConfig) {
	announced := sb.Status.Get().PodResources
	asked, _ := podresources.FromContainer(config) // withResources has counted the error
	changeContainer(ctx, sb, config.GetMetadata().GetName(), func() *podresources.KubernetesResources { return asked })
	if sb.Status.Get().PodResources != announced {
		c.keepPodResources(ctx, sb)
	}
}
