// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"strconv"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"

	"github.com/containerd/nri/internal/peer"
)

// handsOver reports whether a plugin takes over from a connected one of its name, and can have
// a successor itself. A setting of the name, with its index or without, may allow duplicates
// instead. A plugin that the runtime itself has launched or loaded has no successor, since the
// runtime does not start it again.
func (r *Adaptation) handsOver(conn lifecycle.Connection) bool {
	p := conn.(connection).plugin
	return p.impl.isTtrpc() && p.cmd == nil && !r.pluginSettings[p.name()].AllowDuplicates && !r.pluginSettings[p.base].AllowDuplicates
}

// originOf identifies where a plugin comes from: its pod, if that is known, or else the service
// or container that starts it again, or else its process. So two plugins of one name that are
// both started again when they exit do not replace each other in turns.
func originOf(conn lifecycle.Connection) string {
	switch p := conn.(connection).plugin; {
	case p.identity.pod != peer.Pod{}:
		return "pod " + p.identity.pod.UID
	case p.identity.unit != "":
		return "unit " + p.identity.unit
	case p.pid > 0:
		return "process " + strconv.Itoa(p.pid)
	}
	return ""
}

// begun makes the late request of a first event, from a pod or container that the runtime lists.
func begun(ev lifecycle.Event, pod, value any) any {
	sandbox, is := pod.(*PodSandbox)
	if !is {
		sandbox = &PodSandbox{Id: ev.Pod}
	}
	switch value := value.(type) {
	case *PodSandbox:
		return &RunPodSandboxRequest{Pod: value}
	case *Container:
		return &newContainer{request: &CreateContainerRequest{Pod: sandbox, Container: value}}
	}
	return value // the request of a creation that is under way
}
