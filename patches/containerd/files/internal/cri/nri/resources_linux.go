// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
)

// GetPodResources returns what the containers of the pod ask for, and nil if
// that is not known.
func (p *criPodSandbox) GetPodResources() *podresources.PodResourceConfig {
	switch {
	case p.asked != nil:
		return p.asked
	case p.Sandbox == nil:
		return nil
	}
	return p.Status.Get().PodResources
}

// asks takes what the request asks for in place of what is kept.
func (p *criPodSandbox) asks(ctx context.Context) { p.asked = PodResources(ctx) }

// GetKubernetesResources returns what the container asks for, and nil if that is
// not known.
func (c *criContainer) GetKubernetesResources() *podresources.KubernetesResources { return c.asked }

// asks takes what the request asks for in place of what is kept.
func (c *criContainer) asks(ctx context.Context) {
	if asked := ContainerResources(ctx); asked != nil {
		c.asked = asked
	}
}
