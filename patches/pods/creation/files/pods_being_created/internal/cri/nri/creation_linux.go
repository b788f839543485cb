// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/containerd/containerd/v2/internal/nri"

// ListPodSandboxes lists all pods, also pods being created, and pods in state unknown, which
// are still to be stopped and removed. Pods being created are read first, so a pod that moves
// to the store meanwhile is in both lists, never in none.
func (a *API) ListPodSandboxes() []nri.PodSandbox {
	creating := a.cri.CreatingSandboxes().List()
	pods := []nri.PodSandbox{}
	there := map[string]bool{}
	for _, pod := range a.cri.SandboxStore().List() {
		there[pod.ID] = true
		pods = append(pods, a.nriPodSandbox(&pod))
	}
	for _, pod := range creating {
		if !there[pod.ID] {
			pods = append(pods, a.nriPodSandbox(&pod.Sandbox))
		}
	}
	return pods
}
