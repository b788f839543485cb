// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"fmt"

	"github.com/containerd/errdefs"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/nri"
)

var _ nri.PodNamespacer = (*API)(nil)

// PodNamespace implements nri.PodNamespacer from CRI's stores. It asks no shim and reads no
// file.
func (a *API) PodNamespace(uid, container string) (string, error) {
	var of []sstore.Sandbox
	for _, pod := range a.cri.SandboxStore().List() {
		if pod.Config.GetMetadata().GetUid() == uid && a.has(pod.ID, container) {
			of = append(of, pod)
		}
	}
	if len(of) == 0 {
		return "", fmt.Errorf("pod %s with container %q: %w", uid, container, errdefs.ErrNotFound)
	}
	// A pod that was started again has several sandboxes, all in one namespace.
	namespace := of[0].Config.GetMetadata().GetNamespace()
	for _, pod := range of[1:] {
		if other := pod.Config.GetMetadata().GetNamespace(); other != namespace {
			return "", fmt.Errorf("pod %s is in namespace %s and in namespace %s: %w", uid, namespace, other, errdefs.ErrFailedPrecondition)
		}
	}
	return namespace, nil
}

// has reports whether a container belongs to a sandbox, or is the sandbox itself. Any sandbox
// has the empty container.
func (a *API) has(sandbox, container string) bool {
	if container == "" || container == sandbox {
		return true
	}
	ctr, err := a.cri.ContainerStore().Get(container)
	return err == nil && ctr.ID == container && ctr.SandboxID == sandbox
}
