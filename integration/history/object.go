// SPDX-License-Identifier: Apache-2.0

package history

import (
	"github.com/hookline-nri/hookline/integration/plugin"
)

// stage is how far the life of a pod or container went.
type stage int

const (
	up stage = iota
	stopped
	removed
)

// pod is a pod that the connection knows.
type pod struct {
	at     stage
	listed bool // in Synchronize
	owed   bool // known to an earlier connection, and not in Synchronize
	begun  bool // an event of it came after Synchronize
}

// container is a container that the connection knows.
type container struct {
	pod    string
	at     stage
	listed bool // in Synchronize
	owed   bool // known to an earlier connection, and not in Synchronize
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
	if p == nil && r.earlier[call.Pod.GetId()] && isEnd(call.Event) {
		p = &pod{owed: true}
		r.pods[call.Pod.GetId()] = p
	}
	switch {
	case p == nil && call.Event == plugin.RunPodSandbox:
		r.pods[call.Pod.GetId()] = &pod{begun: true}
		return
	case p == nil || p.at == removed:
		r.stray(call, "pod", p == nil)
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
		if p.at == up && !p.owed && !r.wasStopped(call.Pod.GetId(), p) {
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

// isEnd says whether an event tells of an end: which may come of what only an earlier
// connection knew.
func isEnd(e plugin.Event) bool {
	switch e {
	case plugin.StopPodSandbox, plugin.RemovePodSandbox, plugin.StopContainer, plugin.RemoveContainer:
		return true
	}
	return false
}

// stray records an event of an object that the plugin was never told of, or that was
// removed.
func (r *Reading) stray(call plugin.Call, of string, never bool) {
	if never {
		r.fault("L3", call, "is of a %s that the plugin does not know", of)
	} else {
		r.fault("L3", call, "comes after its removal")
	}
}

// wasStopped tells whether a pod may have been listed as stopped.
func (r *Reading) wasStopped(id string, p *pod) bool {
	end, asked := r.ends[id]
	return p.listed && asked && end.Before(r.joined)
}

// containersBefore checks that all containers of a pod have reached the stage that
// the pod reaches with this event.
func (r *Reading) containersBefore(call plugin.Call, want stage) {
	for id, c := range r.containers {
		if c.pod == call.Pod.GetId() && c.at < want {
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
		case c != nil:
			r.fault("L1", call, "comes for a container that the plugin knows already")
		case p == nil:
			r.fault("L3", call, "is of a pod that the plugin does not know")
		case p.at != up:
			r.fault("L11", call, "comes after the stop of the pod")
		}
		r.containers[id] = &container{pod: podID, step: step}
		return
	}
	if c == nil && r.earlier[id] && isEnd(call.Event) {
		c = &container{pod: podID, owed: true}
		r.containers[id] = c
	}
	if c == nil || c.at == removed {
		r.stray(call, "container", c == nil)
		return
	}
	switch call.Event {
	case plugin.StopContainer:
		if c.at == stopped {
			r.fault("L3", call, "comes twice")
		}
		c.at = stopped
	case plugin.RemoveContainer:
		if c.at != stopped && !c.owed {
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
