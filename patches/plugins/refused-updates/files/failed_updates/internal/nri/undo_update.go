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

// lookUp returns a pod and, if its id is not empty, a container, as they are now.
func (t *domainTable) lookUp(pod, container string) (*nri.PodSandbox, *nri.Container) {
	t.Lock()
	all := slices.Collect(maps.Values(t.domains))
	t.Unlock()
	for _, d := range all {
		of, ok := d.GetPodSandbox(pod)
		if !ok {
			continue
		}
		if container == "" {
			return podSandboxToNRI(of), nil
		}
		if c, ok := d.GetContainer(container); ok {
			return podSandboxToNRI(of), containerToNRI(c)
		}
	}
	return nil, nil
}
