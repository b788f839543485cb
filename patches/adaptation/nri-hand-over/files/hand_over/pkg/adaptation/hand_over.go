// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"strconv"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"

	"github.com/containerd/nri/internal/peer"
)

// handsOver says whether a plugin takes over from the one that is there under its name, and
// is taken over from: unless settings of the name, with its index or without, have both
// served. One that the runtime itself has launched or loaded is not: nobody would do so again.
func (r *Adaptation) handsOver(conn lifecycle.Connection) bool {
	p := conn.(connection).plugin
	return p.impl.isTtrpc() && p.cmd == nil && !r.pluginSettings[p.name()].AllowDuplicates && !r.pluginSettings[p.base].AllowDuplicates
}

// originOf says where a plugin comes from: its pod, if that is known, or else the service or
// container that starts it again, or else its process. So two of one name that are both started
// again when they exit do not take turns.
func originOf(conn lifecycle.Connection) string {
	switch p := conn.(connection).plugin; {
	case p.who.pod != peer.Pod{}:
		return "pod " + p.who.pod.UID
	case p.who.unit != "":
		return "unit " + p.who.unit
	case p.pid > 0:
		return "process " + strconv.Itoa(p.pid)
	}
	return ""
}

// begun makes the request of a first event, late, of what the runtime lists.
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
