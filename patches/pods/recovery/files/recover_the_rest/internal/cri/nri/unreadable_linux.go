// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	runtimespec "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/containerd/containerd/v2/internal/cri/annotations"
	cstore "github.com/containerd/containerd/v2/internal/cri/store/container"
)

// specOf returns the specification of a container. If part of the container's record cannot be
// read, the specification still names the pod and the container, by which plugins free the
// resources that they hold.
func specOf(ctx context.Context, c *cstore.Container) (*runtimespec.Spec, error) {
	spec, err := c.Container.Spec(ctx)
	if err != nil || c.Status.Get().Unreadable == "" || spec.Annotations[annotations.SandboxID] != "" {
		return spec, err
	}
	spec.Annotations = map[string]string{
		annotations.SandboxID:     c.SandboxID,
		annotations.ContainerName: c.Config.GetMetadata().GetName(),
		annotations.ContainerType: annotations.ContainerTypeContainer,
	}
	return spec, nil
}
