// SPDX-License-Identifier: Apache-2.0

package nri

import (
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/nri"
)

var _ nri.ExitedLister = (*API)(nil)

// ListExitedContainers lists the containers that have exited, which ListContainers leaves
// out, as long as they are not removed.
func (a *API) ListExitedContainers() []nri.Container {
	var containers []nri.Container
	for _, ctr := range a.cri.ContainerStore().List() {
		if ctr.Status.Get().State() == cri.ContainerState_CONTAINER_EXITED {
			containers = append(containers, a.nriContainer(&ctr))
		}
	}
	return containers
}
