// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/containerd/containerd/v2/internal/nri"

// ListPodSandboxes lists all pods that plugins may have to do with. Those in
// creation are read first: one that moves to the store meanwhile is in both,
// and never in neither. Those of which the store does not know the state, as of
// a creation that could not be undone, have their end before them as well.
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
