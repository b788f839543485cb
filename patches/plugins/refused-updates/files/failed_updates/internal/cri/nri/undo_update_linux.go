// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	"github.com/containerd/log"
)

// UndoUpdatePodSandboxResources ends an update of a pod to which plugins agreed, and which has failed.
func (a *API) UndoUpdatePodSandboxResources(ctx context.Context, pod string) {
	if a.IsDisabled() {
		return
	}
	if err := a.nri.UndoUpdatePodSandbox(pod); err != nil {
		log.G(ctx).WithError(err).Errorf("failed to tell NRI plugins the resources of sandbox %q", pod)
	}
}

// UndoUpdateContainerResources does the same for a container.
func (a *API) UndoUpdateContainerResources(ctx context.Context, pod, container string) {
	if a.IsDisabled() {
		return
	}
	if err := a.nri.UndoUpdateContainer(pod, container); err != nil {
		log.G(ctx).WithError(err).Errorf("failed to tell NRI plugins the resources of container %q", container)
	}
}
