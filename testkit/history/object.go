// SPDX-License-Identifier: Apache-2.0

package history

import (
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// stage is how far the life of a pod or container went.
type stage int

const (
	up stage = iota
	stopped
	removed
)

// end is how far the end of a pod or container has come.
type end struct {
	at     stage // that the connection has received
	before stage // that earlier connections of its name have answered
	former bool  // an earlier connection knew it, and it is not in Synchronize
}

// ended reports whether no further event may come.
func (e end) ended() bool { return max(e.at, e.before) == removed }

// pod is a pod that the connection knows, or an earlier one of its name.
type pod struct {
	end
	listed bool // in Synchronize
	begun  bool // an event of it came after Synchronize
}

// container is a container that the connection knows, or an earlier one of its name.
type container struct {
	end
	pod    string
	listed bool // in Synchronize
	step   int  // the last of steps that came, counted from 1
}

// steps of a container come in this order, each at most once.
var steps = map[plugin.Event]int{
	plugin.CreateContainer:     1,
	plugin.PostCreateContainer: 2,
	plugin.StartContainer:      3,
	plugin.PostStartContainer:  4,
}

// pod checks and records an event of a pod.
func (r *Reading) pod(call plugin.Call) {
	p := r.pods[call.Pod.GetId()]
	switch {
	case !p.here() && call.Event == plugin.RunPodSandbox:
		r.pods[call.Pod.GetId()] = &pod{begun: true}
		return
	case p == nil || p.at == removed || !p.here() && !mayBeMissed(call):
		r.stray(call, "pod", p == nil || p.at != removed)
		return
	}
	switch call.Event {
	case plugin.RunPodSandbox:
		// A pod that was listed while it was being created still gets RunPodSandbox.
		if p.begun {
			r.fault("L1", call, "comes for a pod that the plugin knows already")
		}
	case plugin.StopPodSandbox:
		if p.at == stopped {
			r.fault("L3", call, "comes twice")
		}
		r.containersBefore(call, stopped)
		p.at = stopped
	case plugin.RemovePodSandbox:
		if p.at == up && p.before < stopped && !r.wasStopped(call.Pod.GetId(), p) {
			r.fault("L3", call, "comes without StopPodSandbox")
		}
		r.containersBefore(call, removed)
		p.at = removed
	default:
		if p.at == stopped {
			r.fault("L1", call, "comes after StopPodSandbox")
		}
	}
	p.begun = true
}

// stray records an event of an object that the plugin never received, or that was removed.
func (r *Reading) stray(call plugin.Call, of string, never bool) {
	if never {
		r.fault("L3", call, "is of a %s that the plugin does not know", of)
	} else {
		r.fault("L3", call, "comes after its removal")
	}
}

// wasStopped reports whether a pod may have been listed as stopped.
func (r *Reading) wasStopped(id string, p *pod) bool {
	end, asked := r.ends[id]
	return p.listed && asked && end.Before(r.joined)
}

// containersBefore checks that all containers of a pod have reached the stage that the pod reaches
// with this event.
func (r *Reading) containersBefore(call plugin.Call, want stage) {
	for id, c := range r.containers {
		if c.pod == call.Pod.GetId() && max(c.at, c.before) < want {
			r.fault("L1", call, "comes before that of container %s", id)
		}
	}
}

// container checks and records an event of a container.
func (r *Reading) container(call plugin.Call) {
	id, podID := call.Container.GetId(), call.Pod.GetId()
	c := r.containers[id]
	step := steps[call.Event]
	if call.Event == plugin.CreateContainer {
		p := r.pods[podID]
		switch {
		case c != nil && !c.former:
			r.fault("L1", call, "comes for a container that the plugin knows already")
		case !p.here():
			r.fault("L3", call, "is of a pod that the plugin does not know")
		case p.at != up:
			r.fault("L11", call, "comes after the stop of the pod")
		}
		r.containers[id] = &container{pod: podID, step: step}
		return
	}
	if c == nil || c.at == removed || c.former && !mayBeMissed(call) {
		r.stray(call, "container", c == nil || c.at != removed)
		return
	}
	switch call.Event {
	case plugin.StopContainer:
		if c.at == stopped {
			r.fault("L3", call, "comes twice")
		}
		c.at = stopped
	case plugin.RemoveContainer:
		if max(c.at, c.before) < stopped {
			r.fault("L3", call, "comes without StopContainer")
		}
		c.at = removed
	default:
		if c.at == stopped {
			r.fault("L1", call, "comes after StopContainer")
		}
		if step > 0 && step <= c.step {
			r.fault("L1", call, "comes out of order")
		}
		c.step = max(c.step, step)
	}
}
