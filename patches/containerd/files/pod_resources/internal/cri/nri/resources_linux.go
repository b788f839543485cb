// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
)

// GetPodResources returns what the containers of the pod ask for, encoded, and
// nil if that is not known.
func (p *criPodSandbox) GetPodResources() []byte {
	switch {
	case p.asked != nil:
		return p.asked.Wire()
	case p.Sandbox == nil:
		return nil
	}
	return p.Status.Get().PodResources.Wire()
}

// asks takes what the request asks for in place of what is kept.
func (p *criPodSandbox) asks(ctx context.Context) { p.asked = PodResources(ctx) }

// GetKubernetesResources returns what the container asks for, encoded, and nil if
// that is not known.
func (c *criContainer) GetKubernetesResources() []byte { return c.resources().Wire() }

// resources are those of the request that is under way, or as they were announced
// with the pod, where each update goes, or else the container's own.
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

// asks takes what the request asks for in place of what is kept.
func (c *criContainer) asks(ctx context.Context) { c.asked = ContainerResources(ctx) }
