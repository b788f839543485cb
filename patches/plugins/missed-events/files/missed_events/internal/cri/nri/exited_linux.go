// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"iter"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/nri"
)

var _ nri.ExitedLister = (*API)(nil)

// ExitedContainers returns the containers that have exited and are not removed yet, which
// ListContainers leaves out. It does not read their records, which may be deleted meanwhile.
func (a *API) ExitedContainers() iter.Seq2[string, string] {
	return func(yield func(pod, container string) bool) {
		for _, ctr := range a.cri.ContainerStore().List() {
			if ctr.Status.Get().State() == cri.ContainerState_CONTAINER_EXITED && !yield(ctr.SandboxID, ctr.ID) {
				return
			}
		}
	}
}
