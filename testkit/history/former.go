// SPDX-License-Identifier: Apache-2.0

package history

import "github.com/hookline-nri/hookline/testkit/plugin"

// inherit takes over what an earlier connection of the name knew, or had from one before
// it. What was answered may be told once more, to a later one: the runtime may not have got the
// answer, and those between may have closed before it was sent to them.
func (r *Reading) inherit(before *Reading) {
	for before != nil && before.synced.IsZero() {
		before = before.former // what it was told of it never knew
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

// inherited is an end as the next connection finds it.
func (e end) inherited(r *Reading, id string) end {
	heard := e.at
	if to := r.unanswered[id]; to > up {
		heard = min(heard, to-1)
	}
	return end{before: max(heard, e.before), former: true}
}

// listedAgain is the end of a pod that is in Synchronize. That it was removed before was
// cut short.
func (p *pod) listedAgain() end {
	if p == nil {
		return end{}
	}
	return end{before: min(p.before, stopped)}
}

// listedAgain is the same of a container.
func (c *container) listedAgain() end {
	if c == nil {
		return end{}
	}
	return end{before: min(c.before, stopped)}
}

// here says whether the connection itself knows the pod.
func (p *pod) here() bool { return p != nil && !p.former }

// mayBeMissed says whether an event may be of what an earlier connection knew.
func mayBeMissed(call plugin.Call) bool { return stages[call.Event] > up }

// unheard notes an end that a connection did not answer: it counts as not told.
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

// stages are how far ends bring what they are of.
var stages = map[plugin.Event]stage{
	plugin.StopContainer:    stopped,
	plugin.StopPodSandbox:   stopped,
	plugin.RemoveContainer:  removed,
	plugin.RemovePodSandbox: removed,
}

// listsPod says whether a pod is in Synchronize, as far as that was read.
func (r *Reading) listsPod(id string) bool {
	p := r.pods[id]
	return p != nil && p.listed
}

// listsContainer says whether a container is.
func (r *Reading) listsContainer(id string) bool {
	c := r.containers[id]
	return c != nil && c.listed
}
