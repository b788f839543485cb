// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/containerd/containerd/v2/internal/nri"

// Status is what "crictl info" shows of NRI.
type Status struct {
	nri.Status
	PodsInCreation []PodInCreation `json:"podsInCreation"` // the oldest first
}

// PodInCreation is a pod that is not ready yet.
type PodInCreation struct {
	ID         string          `json:"id"`
	Namespace  string          `json:"namespace"`
	Name       string          `json:"name"`
	nri.Span                   // since its creation began
	WaitingFor *nri.WaitStatus `json:"waitingFor,omitempty"` // once it has come to its hook
}
