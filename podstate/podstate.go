// SPDX-License-Identifier: Apache-2.0

// Package podstate is for authors of NRI plugins: it tells where a pod is in its
// life, which NRI's own messages do not say. On a runtime that does not say so
// either, the state is Unknown.
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
	// Unknown is the state of a pod whose runtime does not say, and of one whose
	// creation failed or was cut and that is still to be stopped and removed.
	Unknown State = iota
	// Creating pods are asked for with RunPodSandbox, or will be.
	Creating
	// Ready pods were agreed to by all, and are to be stopped.
	Ready
	// Stopped pods have had their StopPodSandbox, and are to be removed.
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

// FromPod returns the state of a pod as it was when the event it came with was
// made, Synchronize or any other. It travels in a provisional field, number 1000
// of NRI's PodSandbox.
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
