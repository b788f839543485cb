// SPDX-License-Identifier: Apache-2.0

// Package podstate is for authors of NRI plugins: it returns where a pod is in its life, which NRI's
// own messages do not say. If the runtime does not send it, the state is Unknown.
//
//	switch podstate.FromPod(pod) {
//	case podstate.Creating:
//		...
//	}
package podstate

import (
	"fmt"

	"github.com/containerd/nri/pkg/api"

	field "github.com/hookline-nri/hookline/podstate/internal/nri/podstate"
)

// State is where a pod is in its life.
type State int

const (
	// Unknown is the state of a pod whose runtime does not send it, and of a pod whose
	// creation failed or was interrupted, until it is stopped and removed.
	Unknown State = iota
	// Creating pods have their RunPodSandbox in progress, or still to come.
	Creating
	// Ready pods were approved by all plugins. Their StopPodSandbox is still to come.
	Ready
	// Stopped pods have had their StopPodSandbox. Their RemovePodSandbox is still to come.
	Stopped
)

// String returns the state in lower case.
func (s State) String() string {
	switch s {
	case Unknown:
		return "unknown"
	case Creating:
		return "creating"
	case Ready:
		return "ready"
	case Stopped:
		return "stopped"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// FromPod returns the state of a pod at the time of the event, Synchronize or any other. It travels
// in a provisional field, number 1000 of NRI's PodSandbox.
func FromPod(pod *api.PodSandbox) State {
	if pod == nil {
		return Unknown
	}
	switch field.Get(pod) {
	case field.Creating:
		return Creating
	case field.Ready:
		return Ready
	case field.Stopped:
		return Stopped
	}
	return Unknown
}

// Set sets the state of a pod, as a runtime does: for the tests of a plugin.
func Set(pod *api.PodSandbox, state State) {
	switch state {
	case Creating:
		field.Set(pod, field.Creating)
	case Ready:
		field.Set(pod, field.Ready)
	case Stopped:
		field.Set(pod, field.Stopped)
	default:
		field.Set(pod, field.Unknown)
	}
}
