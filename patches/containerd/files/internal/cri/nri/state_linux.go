// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"github.com/hookline-nri/hookline/internal/nri/podstate"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// has returns true for a pod that is being created.
func (c *creations) has(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, creating := c.pods[id]
	return creating
}

// GetState returns where the pod is in its life, as far as plugins go.
func (p *criPodSandbox) GetState() podstate.State {
	if p.Sandbox == nil {
		return podstate.Unknown
	}
	switch p.Status.Get().State {
	case sstore.StateReady:
		return podstate.Ready
	case sstore.StateNotReady:
		if p.networkGone() {
			return podstate.Stopped
		}
		return podstate.Ready
	}
	if p.creating {
		return podstate.Creating
	}
	return podstate.Unknown
}

// networkGone tells whether the pod had a network namespace that is no more,
// which is how a stop ends. A pod whose creation was cut off by the end of
// containerd may not have got as far as to have one.
func (p *criPodSandbox) networkGone() bool {
	if p.NetNS == nil || p.NetNS.GetPath() == "" {
		return false
	}
	closed, err := p.NetNS.Closed()
	return err == nil && closed
}
