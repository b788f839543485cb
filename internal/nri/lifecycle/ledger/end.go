// SPDX-License-Identifier: Apache-2.0

package ledger

import "slices"

// Next returns the event that the connection has to be told next before the end that
// goal asks for is complete. It is called until ok is false, with Delivered for each event
// that was: then the goal is reached, or was long ago, or the connection never knew
// of the object.
//
// So a Stop is sent before a Remove that comes without one, the containers'
// Stops before their pod's, and their Removes before its, whatever was handed
// in and in whichever order (L1).
func (g *Ledger) Next(goal Event) (Event, bool) {
	kind, container, ok := g.nextOf(goal)
	if kind == goal.Kind && container == goal.Container {
		return goal, ok
	}
	return Event{Kind: kind, Pod: goal.Pod, Container: container}, ok
}

// Lacks says whether anything has to be told before an end is complete.
func (g *Ledger) Lacks(goal Event) bool {
	_, more := g.Next(goal)
	return more
}

// Pass enters ends that are of no interest to the connection, with all before them.
func (g *Ledger) Pass(ends []Event) {
	for _, goal := range ends {
		g.Complete(goal, func(Event) {})
	}
}

// Complete enters all that has to be told until an end is complete, and calls do for each.
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

// find returns the container with the least id, if running is set among those that had
// no Stop. It is called only for a pod that ends before containers of it.
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

// Delivered enters an end that was answered, or that is of no interest to the connection.
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
