// SPDX-License-Identifier: Apache-2.0

// Package hookline is for authors of NRI plugins: it reads what a runtime with
// the lifecycle contract tells of a pod beyond NRI's own messages. On any other
// runtime there is nothing to read, and all of it says so without an error.
//
// For clients of such a runtime, and for admission webhooks, it sets what there
// is to tell: see SetPodResources and PodResourcesAnnotation.
package hookline

import (
	"fmt"

	"github.com/containerd/nri/pkg/api"

	"github.com/hookline-nri/hookline/internal/nri/podstate"
)

// PodState is where a pod is in its life.
type PodState int

const (
	// Unknown is the state of a pod whose runtime does not say, and of one whose
	// creation failed or was cut and that is still to be stopped and removed.
	Unknown PodState = iota
	// Creating pods are asked for with RunPodSandbox, or will be.
	Creating
	// Ready pods were agreed to by all, and are to be stopped.
	Ready
	// Stopped pods have had their StopPodSandbox, and are to be removed.
	Stopped
)

// String returns the state in lower case.
func (s PodState) String() string {
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
	return fmt.Sprintf("PodState(%d)", int(s))
}

// State returns the state of a pod as it was when the event it came with was
// made, Synchronize or any other. It travels in a provisional field, number 1000
// of NRI's PodSandbox.
func State(pod *api.PodSandbox) PodState {
	if pod == nil {
		return Unknown
	}
	switch podstate.Get(pod) {
	case podstate.Creating:
		return Creating
	case podstate.Ready:
		return Ready
	case podstate.Stopped:
		return Stopped
	}
	return Unknown
}
