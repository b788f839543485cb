// SPDX-License-Identifier: Apache-2.0

package history

import "github.com/hookline-nri/hookline/testkit/plugin"

// inherit takes over the objects that an earlier connection of the name knew or inherited. An end
// that was answered may be sent once more, to a later connection: the runtime may not have got the
// answer, and the connections between may have closed before the end was sent to them.
func (r *Reading) inherit(before *Reading) {
	for before != nil && before.synced.IsZero() {
		before = before.former // it was never synchronized, and so knew nothing
	}
	if before == nil {
		return
	}
	for id, p := range before.pods {
		r.pods[id] = &pod{end: p.inherited(before, id)}
		if before.wasStopped(id, p) {
			r.pods[id].before = max(r.pods[id].before, stopped)
		}
	}
	for id, c := range before.containers {
		r.containers[id] = &container{end: c.inherited(before, id), pod: c.pod}
	}
}

// inherited returns an end as the next connection finds it.
func (e end) inherited(r *Reading, id string) end {
	heard := e.at
	if to := r.unanswered[id]; to > up {
		heard = min(heard, to-1)
	}
	return end{before: max(heard, e.before), former: true}
}

// listedAgain returns the end of a pod that is in Synchronize. If it was removed before, the removal
// was interrupted.
func (p *pod) listedAgain() end {
	if p == nil {
		return end{}
	}
	return end{before: min(p.before, stopped)}
}

// listedAgain returns the same for a container.
func (c *container) listedAgain() end {
	if c == nil {
		return end{}
	}
	return end{before: min(c.before, stopped)}
}

// here reports whether the connection itself knows the pod.
func (p *pod) here() bool { return p != nil && !p.former }

// mayBeMissed reports whether an event may be of an object that an earlier connection knew.
func mayBeMissed(call plugin.Call) bool { return stages[call.Event] > up }

// unheard notes an end that a connection did not answer: it counts as not delivered.
func (r *Reading) unheard(call plugin.Call) {
	if !call.End.IsZero() {
		return
	}
	id, to := call.Pod.GetId(), stages[call.Event]
	if call.Container != nil {
		id = call.Container.GetId()
	}
	if to > up {
		r.unanswered[id] = to
	}
}

// stages are the stages that pods and containers reach with their ends.
var stages = map[plugin.Event]stage{
	plugin.StopContainer:    stopped,
	plugin.StopPodSandbox:   stopped,
	plugin.RemoveContainer:  removed,
	plugin.RemovePodSandbox: removed,
}

// listsPod reports whether a pod is in Synchronize, as far as that was read.
func (r *Reading) listsPod(id string) bool {
	p := r.pods[id]
	return p != nil && p.listed
}

// listsContainer reports the same for a container.
func (r *Reading) listsContainer(id string) bool {
	c := r.containers[id]
	return c != nil && c.listed
}
