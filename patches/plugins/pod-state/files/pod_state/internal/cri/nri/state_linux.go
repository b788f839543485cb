// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"github.com/hookline-nri/hookline/podstate/internal/nri/podstate"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// GetState returns the state of the pod as plugins see it. A pod whose process died
// counts as ready, because its StopPodSandbox is still to be sent.
func (p *criPodSandbox) GetState() podstate.State {
	if p.Sandbox == nil {
		return podstate.Unknown
	}
	status := p.Status.Get()
	switch {
	case status.Phase == sstore.PhaseStopped:
		return podstate.Stopped
	case status.State == sstore.StateReady:
		return podstate.Ready
	case p.creating:
		return podstate.Creating
	case status.State == sstore.StateNotReady && status.Phase != sstore.PhaseCreating:
		return podstate.Ready
	}
	return podstate.Unknown
}
