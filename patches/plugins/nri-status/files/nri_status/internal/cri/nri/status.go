// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/containerd/containerd/v2/internal/nri"

// Status is the status of NRI as "crictl info" shows it.
type Status struct {
	nri.Status
	PodsBeingCreated []PodBeingCreated `json:"podsBeingCreated"` // oldest first
}

// PodBeingCreated is a pod that is not ready yet.
type PodBeingCreated struct {
	ID         string          `json:"id"`
	Namespace  string          `json:"namespace"`
	Name       string          `json:"name"`
	nri.Span                   // since its creation began
	WaitingFor *nri.WaitStatus `json:"waitingFor,omitempty"` // once its hook has begun
}
