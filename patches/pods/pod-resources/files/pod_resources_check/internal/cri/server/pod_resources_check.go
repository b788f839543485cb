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
	"github.com/containerd/containerd/v2/internal/cri/podresources"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// checkAnnounced compares a new container with its announced resources. If the container is
// rejected for a difference, the error is an errdefs.ErrFailedPrecondition (R3).
func (c *criService) checkAnnounced(ctx context.Context, sb *sandboxstore.Sandbox, config *runtime.ContainerConfig) error {
	if c.config.PodResourcesCheck == criconfig.PodResourcesCheckOff {
		return nil
	}
	differences := podresources.Check(sb.Status.Get().PodResources, sb.Config.GetMetadata(), config)
	return c.reportDifferences(ctx, sb, config.GetMetadata().GetName(), differences)
}

// reportDifferences logs differences, or rejects the container, as configured.
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
