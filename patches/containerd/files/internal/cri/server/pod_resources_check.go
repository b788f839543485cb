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

// announced returns a context with what a new container asks for, by itself or
// as it was announced, and an error of class errdefs.ErrFailedPrecondition if
// the container is to be refused for a difference between the two (R3).
func (c *criService) announced(ctx context.Context, sb *sandboxstore.Sandbox, config *runtime.ContainerConfig) (context.Context, error) {
	pod := sb.Status.Get().PodResources
	asked, err := podresources.FromContainer(config)
	if err != nil {
		ignoreResources(ctx, "container", sb.Config.GetMetadata(), err)
	}
	if asked == nil {
		asked = pod.Container(config.GetMetadata().GetName()).GetKubernetesResources()
	}
	ctx = nri.WithContainerResources(ctx, asked)
	if pod == nil || c.config.PodResourcesCheck == criconfig.PodResourcesCheckOff {
		return ctx, nil
	}
	_, partial := sb.Config.GetAnnotations()[podresources.Annotation] // a webhook does not know paths on the host
	return ctx, c.judge(ctx, sb, config.GetMetadata().GetName(), podresources.Check(pod, partial, config))
}

// judge logs differences, or refuses the container for them, as configured.
func (c *criService) judge(ctx context.Context, sb *sandboxstore.Sandbox, container string, differences []podresources.Difference) error {
	if len(differences) == 0 {
		return nil
	}
	var clauses []string
	for _, d := range differences {
		kind, _, _ := strings.Cut(d.Field, "[")
		podResourcesDifferences.WithValues(kind).Inc()
		clauses = append(clauses, d.String())
	}
	pod := sb.Config.GetMetadata()
	err := fmt.Errorf("container %q of pod %s/%s differs from what was announced with the pod: %s: %w",
		container, pod.GetNamespace(), pod.GetName(), strings.Join(clauses, "; "), errdefs.ErrFailedPrecondition)
	if c.config.PodResourcesCheck == criconfig.PodResourcesCheckEnforce {
		return err
	}
	log.G(ctx).Warn(err)
	return nil
}
