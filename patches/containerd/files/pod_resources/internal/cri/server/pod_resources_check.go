// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/containerd/log"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	"github.com/containerd/containerd/v2/internal/cri/nri"
	"github.com/containerd/containerd/v2/internal/cri/podresources"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// checkAnnounced compares a new container with what was announced of it. The error
// is of class errdefs.ErrFailedPrecondition if the container is refused for a
// difference (R3). Otherwise the context carries the resources of the container: its
// own, or as announced.
func (c *criService) checkAnnounced(ctx context.Context, sb *sandboxstore.Sandbox, config *runtime.ContainerConfig) (context.Context, error) {
	announced, name := sb.Status.Get().PodResources, config.GetMetadata().GetName()
	asked, err := podresources.FromContainer(config)
	if err != nil {
		ignoreResources(ctx, sb, "container", err)
	}
	if c.config.PodResourcesCheck != criconfig.PodResourcesCheckOff {
		if err := c.reportDifferences(ctx, sb, name, podresources.Check(announced, sb.Config.GetMetadata(), config)); err != nil {
			return ctx, err
		}
	}
	if asked == nil {
		asked = announced.Container(name).GetKubernetesResources()
	}
	return nri.WithContainerResources(ctx, asked), nil
}

// keepAsked takes the resources that a container was created with into the
// announcement of its pod.
func (c *criService) keepAsked(ctx context.Context, sb *sandboxstore.Sandbox, config *runtime.ContainerConfig) {
	announced := sb.Status.Get().PodResources
	asked, _ := podresources.FromContainer(config) // what cannot be read was counted by checkAnnounced
	changeContainer(ctx, sb, config.GetMetadata().GetName(), func() *podresources.KubernetesResources { return asked })
	if sb.Status.Get().PodResources != announced {
		c.keepPodResources(ctx, sb)
	}
}

// reportDifferences logs differences, or refuses the container for them, as
// configured.
func (c *criService) reportDifferences(ctx context.Context, sb *sandboxstore.Sandbox, container string, differences []podresources.Difference) error {
	if len(differences) == 0 {
		return nil
	}
	for _, d := range differences {
		kind, _, _ := strings.Cut(d.Field, "[")
		podResourcesDifferences.WithValues(kind).Inc()
	}
	pod := sb.Config.GetMetadata()
	err := fmt.Errorf("container %q of pod %s/%s differs from what was announced with the pod: %s: %w",
		container, pod.GetNamespace(), pod.GetName(), podresources.Sentence(differences), errdefs.ErrFailedPrecondition)
	if c.config.PodResourcesCheck == criconfig.PodResourcesCheckEnforce {
		return err
	}
	log.G(ctx).Warn(err)
	return nil
}
