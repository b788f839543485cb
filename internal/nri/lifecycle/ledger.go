// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"slices"
)

// ErrStopped refuses what begins in a pod that is being stopped, or what is
// itself being undone or has ended: a creation, or a start (L11).
var ErrStopped = errors.New("already stopped")

// A ledger is what one connection knows of each pod and container, and so
// what it may still be sent. It is where order, ends and the last word are kept,
// for all connections, in one place (L1, L3, L11).
//
// What begins is entered just before it is sent, not when that succeeded: a plugin
// that refused or timed out may have acted on it, and must hear the end. An end is
// entered when it was answered: until then it is still to be told, to the next
// connection of the name if this one is lost (L18).
//
// A ledger has no lock of its own; its lane's lock guards it.
type ledger struct {
	pods map[string]podEntry
}

// A mark is how far a pod or container has come for a connection.
type mark uint8

const (
	// unknown is the mark of a pod of which the connection knows containers alone.
	unknown mark = iota
	// listed: told of by Synchronize. A pod's Run may still follow (L1).
	listed
	// begun: told of by its first event.
	begun
	// over: stopped when the connection joined, and its Stop, which the name has not heard,
	// is still to be told.
	over
	// stopped: had its Stop, or was stopped when the connection joined.
	stopped
)

// stops says whether the Stop of a pod or container is still to be told.
func (m mark) stops() bool { return m != unknown && m != stopped }

// goesOn says whether anything but its end may still be told of a pod or container.
func (m mark) goesOn() bool { return m == listed || m == begun }

type podEntry struct {
	mark       mark
	creating   bool             // listed while it was being created: its first event may still come, late
	former     bool             // as of a container
	removed    bool             // its Remove came while the plugin was away
	running    int              // containers that had no Stop
	containers []containerEntry // few
}

type containerEntry struct {
	id     string
	mark   mark
	former bool // told to an earlier connection of the name, and not to this one
}

func newLedger() ledger { return ledger{pods: make(map[string]podEntry)} }

// synchronized returns the ledger of a connection that was told of s by Synchronize, and
// whose name knew former before. A first event of what that knew may come all the same, in
// time or late: to this connection it is one. A pod that has stopped, and whose Stop the
// name has not heard, gets it yet.
func synchronized(s Snapshot, former ledger) ledger {
	g := newLedger()
	for _, p := range s.Pods {
		m := inherited(!p.Stopped)
		if (p.Stopped || p.over) && former.pods[p.Pod].mark.stops() {
			m = over
		}
		g.pods[p.Pod] = podEntry{mark: m, creating: p.Creating}
	}
	for _, c := range s.Containers {
		if p := g.pods[c.Pod]; p.container(c.Container) == nil {
			g.enter(c.Pod, containerEntry{id: c.Container, mark: listed})
		}
	}
	for id, p := range former.pods {
		if mine := g.pods[id]; mine.mark == unknown {
			if p.mark != unknown {
				mine.mark, mine.creating, mine.former = inherited(p.mark.stops()), true, true
			}
			mine.removed = p.removed
			g.pods[id] = mine
		}
		for _, c := range p.containers {
			if mine := g.pods[id]; mine.container(c.id) == nil {
				g.enter(id, containerEntry{id: c.id, mark: inherited(c.mark.stops()), former: true})
			}
		}
	}
	return g
}

// inherited is the mark of what was not told by its own first event, by whether its Stop
// is still to be told.
func inherited(stops bool) mark {
	if stops {
		return listed
	}
	return stopped
}

// enter adds a container.
func (g *ledger) enter(pod string, c containerEntry) {
	p := g.pods[pod]
	p.containers = append(p.containers, c)
	if c.mark.stops() {
		p.running++
	}
	g.pods[pod] = p
}

// container returns what is known of a container, nil if it is not known.
func (p *podEntry) container(id string) *containerEntry {
	for i := range p.containers {
		if p.containers[i].id == id {
			return &p.containers[i]
		}
	}
	return nil
}

// markOf returns how far a container has come.
func (p *podEntry) markOf(container string) mark {
	if c := p.container(container); c != nil {
		return c.mark
	}
	return unknown
}

// admit says whether an event that is not an end may be sent, and enters it
// if it is a first one. ErrStopped says that there must be no such event: what
// begins after its end is refused, and never passed over as if it went on untold.
func (g *ledger) admit(ev Event) (bool, error) {
	pod := g.pods[ev.Pod]
	if ev.Kind.begins() && (pod.mark >= over || ev.Container != "" && pod.markOf(ev.Container) >= over) {
		return false, ErrStopped
	}
	switch {
	case ev.Kind == RunPodSandbox:
		if pod.mark > listed {
			return false, nil
		}
		pod.mark, pod.former = begun, false
		g.pods[ev.Pod] = pod
		return true, nil
	case ev.Kind == CreateContainer:
		return g.create(ev.Pod, ev.Container), nil
	case ev.Container != "":
		c := pod.container(ev.Container)
		return c != nil && !c.former && c.mark.goesOn(), nil
	}
	return !pod.former && pod.mark.goesOn(), nil
}

// admitLate says whether a first event that the connection missed is still to
// be told, and enters it: unless Synchronize told of the object, as one that was
// created, or it has ended.
func (g *ledger) admitLate(ev Event) bool {
	pod := g.pods[ev.Pod]
	if ev.Container != "" {
		return pod.mark < over && pod.markOf(ev.Container) < over && g.create(ev.Pod, ev.Container)
	}
	if pod.mark != unknown && (pod.mark != listed || !pod.creating) {
		return false
	}
	pod.mark, pod.former = begun, false
	g.pods[ev.Pod] = pod
	return true
}

// create enters a container that the connection is to be told of, unless it was.
func (g *ledger) create(pod, container string) bool {
	p := g.pods[pod]
	c := p.container(container)
	switch {
	case c == nil:
		g.enter(pod, containerEntry{id: container, mark: begun})
		return true
	case !c.former:
		return false
	}
	c.mark, c.former = begun, false // it has not stopped, and counts already
	return true
}

// unanswered says of a first event that it was not answered: it may come again, to the
// next connection.
func (g *ledger) unanswered(ev Event) {
	p := g.pods[ev.Pod]
	if ev.Container == "" {
		if p.mark == begun {
			p.mark, p.creating, p.former = listed, true, true
			g.pods[ev.Pod] = p
		}
		return
	}
	if c := p.container(ev.Container); c != nil && c.mark == begun {
		c.mark, c.former = listed, true
	}
}

// next returns the event that the connection has to be told next before the end that
// goal asks for is complete. It is called until ok is false, with told for each event
// that was: then the goal is reached, or was long ago, or the connection never knew
// of the object.
//
// So a Stop is sent before a Remove that comes without one, the containers'
// Stops before their pod's, and their Removes before its, whatever was handed
// in and in whichever order (L1).
func (g *ledger) next(goal Event) (Event, bool) {
	kind, container, ok := g.nextOf(goal)
	if kind == goal.Kind && container == goal.Container {
		return goal, ok
	}
	return Event{Kind: kind, Pod: goal.Pod, Container: container}, ok
}

// lacks says whether anything has to be told before an end is complete.
func (g *ledger) lacks(goal Event) bool {
	_, more := g.next(goal)
	return more
}

// pass enters ends that are of no interest to the connection, with all before them.
func (g *ledger) pass(ends []Event) {
	for _, goal := range ends {
		g.complete(goal, func(Event) {})
	}
}

// complete enters all that has to be told until an end is complete, and calls do for each.
func (g *ledger) complete(goal Event, do func(Event)) {
	for ev, more := g.next(goal); more; ev, more = g.next(goal) {
		g.told(ev)
		do(ev)
	}
}

func (g *ledger) nextOf(goal Event) (kind Kind, container string, ok bool) {
	p, known := g.pods[goal.Pod]
	remove := goal.Kind.removal()
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

// told enters an end that was answered, or that is of no interest to the connection.
func (g *ledger) told(end Event) {
	p, known := g.pods[end.Pod]
	switch {
	case !known:
		return
	case end.Container != "":
		p.told(end.Container, end.Kind.removal())
	case end.Kind.removal():
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

func (p *podEntry) told(container string, removed bool) {
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

// knows says whether a pod or container is known.
func (g *ledger) knows(o object) bool {
	p := g.pods[o.pod]
	if o.container == "" {
		return p.mark != unknown
	}
	return p.container(o.container) != nil
}

// goesOn says whether the Stop of a pod or container is still to be told.
func (g *ledger) goesOn(o object) bool {
	p := g.pods[o.pod]
	if o.container == "" {
		return p.mark.stops()
	}
	return p.markOf(o.container).stops()
}

// count returns how many pods and containers are known.
func (g *ledger) count() (pods, containers int) {
	for _, p := range g.pods {
		containers += len(p.containers)
	}
	return len(g.pods), containers
}

// copyOf returns a copy of what is known of the pods of some events.
func (g *ledger) copyOf(events []Event) ledger {
	some := newLedger()
	for _, ev := range events {
		if p, known := g.pods[ev.Pod]; known {
			p.containers = slices.Clone(p.containers)
			some.pods[ev.Pod] = p
		}
	}
	return some
}
