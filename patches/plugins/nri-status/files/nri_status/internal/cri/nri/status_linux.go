// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/containerd/containerd/v2/internal/nri"

// Status returns the status of plugins and of pods being created. It never waits.
func (a *API) Status() Status {
	s := Status{Status: nri.Status{Plugins: []nri.PluginStatus{}}, PodsBeingCreated: []PodBeingCreated{}}
	if a.IsDisabled() {
		return s
	}
	creations := a.cri.CreatingSandboxes().List()
	s.Status = a.nri.Status()
	for _, c := range creations {
		pod := PodBeingCreated{
			ID:        c.ID,
			Namespace: c.Config.GetMetadata().GetNamespace(),
			Name:      c.Config.GetMetadata().GetName(),
			Span:      nri.NewSpan(c.Since),
		}
		if w, ok := s.Waits[c.ID]; ok {
			pod.WaitingFor = &w
		}
		s.PodsBeingCreated = append(s.PodsBeingCreated, pod)
	}
	return s
}
