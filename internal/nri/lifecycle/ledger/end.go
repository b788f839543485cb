// SPDX-License-Identifier: Apache-2.0

package ledger

import "slices"

// Next returns the next event to deliver on the way to the end goal. The caller passes each
// answered event to Delivered, and calls Next again until it returns false: then the
// connection has received goal, now or earlier, or never knew the object.
//
// So the connection receives a Stop before a Remove that was submitted alone, the Stops of
// containers before the Stop of their pod, and their Removes before its Remove, in whatever
// order the runtime submitted them (L1).
func (g *Ledger) Next(goal Event) (Event, bool) {
	kind, container, ok := g.nextOf(goal)
	if kind == goal.Kind && container == goal.Container {
		return goal, ok
	}
	return Event{Kind: kind, Pod: goal.Pod, Container: container}, ok
}

// Lacks reports whether the connection must still receive an event before an end is complete.
func (g *Ledger) Lacks(goal Event) bool {
	_, more := g.Next(goal)
	return more
}

// Pass records ends that the connection does not want, with all events before them.
func (g *Ledger) Pass(ends []Event) {
	for _, goal := range ends {
		g.Complete(goal, func(Event) {})
	}
}

// Complete records each event that is missing until an end is complete, and calls do for it.
func (g *Ledger) Complete(goal Event, do func(Event)) {
	for ev, more := g.Next(goal); more; ev, more = g.Next(goal) {
		g.Delivered(ev)
		do(ev)
	}
}

func (g *Ledger) nextOf(goal Event) (kind Kind, container string, ok bool) {
	p, known := g.pods[goal.Pod]
	remove := goal.Kind.Removal()
	switch {
	case !known:
		return 0, "", false
	case goal.Container != "":
		return p.next(goal.Container, remove)
	case p.running > 0:
		return p.next(p.find(true), false)
	case remove && len(p.containers) > 0:
		return p.next(p.find(false), true)
	case p.mark.stops():
		return StopPodSandbox, "", true
	case remove:
		return RemovePodSandbox, "", true
	}
	return 0, "", false
}

func (p *podEntry) next(container string, remove bool) (Kind, string, bool) {
	switch c := p.container(container); {
	case c == nil:
		return 0, "", false
	case c.mark.stops():
		return StopContainer, container, true
	case remove:
		return RemoveContainer, container, true
	}
	return 0, "", false
}

// find returns the container with the least id; if running is set, among those without a
// Stop. It is needed only for a pod that ends before its containers.
func (p *podEntry) find(running bool) string {
	var least string
	for _, c := range p.containers {
		if running && !c.mark.stops() {
			continue
		}
		if least == "" || c.id < least {
			least = c.id
		}
	}
	return least
}

// Delivered records an end that the plugin has answered, or does not want.
func (g *Ledger) Delivered(end Event) {
	p, known := g.pods[end.Pod]
	switch {
	case !known:
		return
	case end.Container != "":
		p.received(end.Container, end.Kind.Removal())
	case end.Kind.Removal():
		delete(g.pods, end.Pod)
		return
	case p.mark.stops():
		p.mark = stopped
	}
	if p.mark == unknown && len(p.containers) == 0 {
		delete(g.pods, end.Pod)
		return
	}
	g.pods[end.Pod] = p
}

func (p *podEntry) received(container string, removed bool) {
	c := p.container(container)
	if c == nil {
		return
	}
	if c.mark.stops() {
		p.running--
	}
	c.mark = stopped
	if removed {
		p.containers = slices.DeleteFunc(p.containers, func(c containerEntry) bool { return c.id == container })
	}
}
