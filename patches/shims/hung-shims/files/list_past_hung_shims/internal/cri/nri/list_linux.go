// SPDX-License-Identifier: Apache-2.0

package nri

import (
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	cstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	"github.com/containerd/containerd/v2/internal/nri"
)

// ListContainers lists all containers that plugins may have to do with: those
// that have not exited, as far as CRI knows. It asks no shim. A container whose
// state could not be told when the runtime came back may be running. Of one that
// is being removed the plugins that know it get the last event, and no other hears
// of it: its record may be gone.
func (a *API) ListContainers() []nri.Container {
	containers := []nri.Container{}
	for _, ctr := range a.cri.ContainerStore().List() {
		if !isListed(&ctr) {
			continue
		}
		c := a.nriContainer(&ctr)
		if isListed(&ctr) { // else its record may have gone while it was read
			containers = append(containers, c)
		}
	}
	return containers
}

func isListed(ctr *cstore.Container) bool {
	status := ctr.Status.Get()
	return status.State() != cri.ContainerState_CONTAINER_EXITED && !status.Removing
}

// pidOf returns the process of a container, zero if there is none. That of a
// container which was being started when the runtime was restarted is gone.
func pidOf(s cstore.Status) uint32 {
	if s.State() == cri.ContainerState_CONTAINER_CREATED && !s.Starting {
		return 0
	}
	return s.Pid
}
