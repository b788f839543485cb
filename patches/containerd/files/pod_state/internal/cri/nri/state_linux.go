// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"github.com/hookline-nri/hookline/internal/nri/podstate"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// GetState returns where the pod is in its life, as far as plugins go. One whose
// process died is as good as ready: its stop is to come.
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
