// SPDX-License-Identifier: Apache-2.0

package nri

import (
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	cstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	"github.com/containerd/containerd/v2/internal/nri"
)

// ListContainers lists all containers that have not exited, as far as CRI knows. It asks no
// shim. It includes containers whose state could not be determined when the runtime restarted,
// because they may be running. It leaves out containers that are being removed, whose record may
// be deleted: plugins that know such a container receive its removal, and no other plugin
// receives it.
func (a *API) ListContainers() []nri.Container {
	containers := []nri.Container{}
	for _, ctr := range a.cri.ContainerStore().List() {
		if !isListed(&ctr) {
			continue
		}
		c := a.nriContainer(&ctr)
		if isListed(&ctr) { // if not, its record may have been deleted while it was read
			containers = append(containers, c)
		}
	}
	return containers
}

func isListed(ctr *cstore.Container) bool {
	status := ctr.Status.Get()
	return status.State() != cri.ContainerState_CONTAINER_EXITED && !status.Removing
}

// pidOf returns the process of a container, zero if there is none. If a container was being
// started when the runtime restarted, its process is gone.
func pidOf(s cstore.Status) uint32 {
	if s.State() == cri.ContainerState_CONTAINER_CREATED && !s.Starting {
		return 0
	}
	return s.Pid
}
