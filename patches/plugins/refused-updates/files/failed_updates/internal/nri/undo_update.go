// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"maps"
	"slices"

	nri "github.com/containerd/nri/pkg/adaptation"
)

func (l *local) UndoUpdatePodSandbox(pod string) error {
	if !l.IsEnabled() {
		return nil
	}
	return l.nri.UndoUpdatePodSandbox(pod)
}

func (l *local) UndoUpdateContainer(pod, container string) error {
	if !l.IsEnabled() {
		return nil
	}
	return l.nri.UndoUpdateContainer(pod, container)
}

// lookUp returns a container and its pod or, if there is no id of a container, a pod, as they are now.
func (t *domainTable) lookUp(pod, container string) (*nri.PodSandbox, *nri.Container) {
	t.Lock()
	all := slices.Collect(maps.Values(t.domains))
	t.Unlock()
	for _, d := range all {
		if container == "" {
			if of, ok := d.GetPodSandbox(pod); ok {
				return podSandboxToNRI(of), nil
			}
			continue
		}
		c, ok := d.GetContainer(container)
		if !ok {
			continue
		}
		if of, ok := d.GetPodSandbox(c.GetPodSandboxID()); ok {
			return podSandboxToNRI(of), containerToNRI(c)
		}
	}
	return nil, nil
}
