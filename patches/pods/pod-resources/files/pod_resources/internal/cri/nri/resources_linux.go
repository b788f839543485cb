// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
)

// GetPodResources returns the resources of the pod's containers, encoded, or nil if
// they are not known.
func (p *criPodSandbox) GetPodResources() []byte { return p.announced().Wire() }

// announced returns the resources of the current request, or else the stored ones, nil if there are none.
func (p *criPodSandbox) announced() *podresources.Announcement {
	if p.asked != nil || p.Sandbox == nil {
		return p.asked
	}
	return p.Status.Get().PodResources
}

// asks puts the resources of the request before the stored ones.
func (p *criPodSandbox) asks(ctx context.Context) { p.asked = PodResources(ctx) }

// GetKubernetesResources returns the container's resources, encoded, or nil if they
// are not known.
func (c *criContainer) GetKubernetesResources() []byte { return c.resources().Wire() }

// resources returns the resources of the current request, or else those announced with the
// pod, which each update changes, or else the container's own.
func (c *criContainer) resources() *podresources.KubernetesResources {
	if c.asked != nil {
		return c.asked
	}
	if pod, err := c.api.cri.SandboxStore().Get(c.GetPodSandboxID()); err == nil {
		if announced := pod.Status.Get().PodResources.Container(c.GetName()); announced != nil {
			return announced.GetKubernetesResources()
		}
	}
	return c.own
}

// asks puts the resources of the request before the stored ones.
func (c *criContainer) asks(ctx context.Context) { c.asked = ContainerResources(ctx) }
