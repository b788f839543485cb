// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"iter"
	"maps"
	"slices"
)

// ErrStopped rejects a creation or start in a pod that is being stopped, or of a pod or
// container that has ended or is being rolled back (L11).
var ErrStopped = errors.New("already stopped")

// A Ledger records what one connection knows of each pod and container, and so which events
// it may still receive. It alone decides on the order of events, on ends, and that nothing
// follows them (L1, L3, L11).
//
// A first event is recorded just before it is sent, not when it succeeded: a plugin that
// rejected it or timed out may have acted on it, and must receive the end. An end is recorded
// when it was answered: if the connection is lost before that, the next connection of the name
// receives the end (L18).
//
// A ledger has no lock of its own: its owner's lock guards it.
type Ledger struct {
	pods map[string]podEntry
}

// A mark is how far a pod or container has come for a connection.
type mark uint8

const (
	// unknown: a pod that the connection knows only by its containers.
	unknown mark = iota
	// listed: received in Synchronize. RunPodSandbox of a pod may still follow (L1).
	listed
	// begun: received by its first event.
	begun
	// over: stopped when the connection joined, but no connection of the name has received
	// the Stop. It must still be delivered.
	over
	// stopped: its Stop was received, or it was stopped when the connection joined.
	stopped
)

// stops reports whether the Stop of a pod or container must still be delivered.
func (m mark) stops() bool { return m != unknown && m != stopped }

// goesOn reports whether a pod or container may have events other than its end.
func (m mark) goesOn() bool { return m == listed || m == begun }

type podEntry struct {
	mark       mark
	creating   bool             // listed while it was being created: its first event may come late
	former     bool             // see containerEntry
	removed    bool             // its Remove came while the plugin was disconnected
	running    int              // containers whose Stop must still be delivered
	containers []containerEntry // few
}

type containerEntry struct {
	id     string
	mark   mark
	former bool // received by an earlier connection of the name, and not by this one
}

// New returns an empty ledger.
func New() *Ledger { return &Ledger{pods: make(map[string]podEntry)} }

// Synchronized returns the ledger of a connection that received s in Synchronize, and whose
// name knew former before. The connection may still receive the first event of an object in
// former, in time or late. If a pod has stopped, and its Stop was delivered to no connection
// of the name, this connection receives it.
func Synchronized(s Snapshot, former *Ledger) *Ledger {
	g := New()
	for _, p := range s.Pods {
		m := inherited(!p.Stopped)
		if was := former.pods[p.Pod].mark; was == over || p.Stopped && was.stops() {
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

// inherited is the mark of an object that the connection did not receive by its first event.
// stops is whether its Stop must still be delivered.
func inherited(stops bool) mark {
	if stops {
		return listed
	}
	return stopped
}

// enter adds a container.
func (g *Ledger) enter(pod string, c containerEntry) {
	p := g.pods[pod]
	p.containers = append(p.containers, c)
	if c.mark.stops() {
		p.running++
	}
	g.pods[pod] = p
}

// container returns the entry of a container, nil if it is not known.
func (p *podEntry) container(id string) *containerEntry {
	for i := range p.containers {
		if p.containers[i].id == id {
			return &p.containers[i]
		}
	}
	return nil
}

// markOf returns the mark of a container.
func (p *podEntry) markOf(container string) mark {
	if c := p.container(container); c != nil {
		return c.mark
	}
	return unknown
}

// Knows reports whether a pod or container is known.
func (g *Ledger) Knows(id ID) bool {
	p := g.pods[id.Pod]
	if id.Container == "" {
		return p.mark != unknown
	}
	return p.container(id.Container) != nil
}

// GoesOn reports whether the Stop of a pod or container must still be delivered.
func (g *Ledger) GoesOn(id ID) bool {
	p := g.pods[id.Pod]
	if id.Container == "" {
		return p.mark.stops()
	}
	return p.markOf(id.Container).stops()
}

// Begun reports whether the connection has received RunPodSandbox of a pod, and not its end.
func (g *Ledger) Begun(pod string) bool { return g.pods[pod].mark == begun }

// Pods returns the ids of the pods that the plugin knows, itself or by a container.
func (g *Ledger) Pods() iter.Seq[string] { return maps.Keys(g.pods) }

// Count returns how many pods and containers are known.
func (g *Ledger) Count() (pods, containers int) {
	for _, p := range g.pods {
		containers += len(p.containers)
	}
	return len(g.pods), containers
}

// CopyOf returns a copy of the entries of the pods of some events.
func (g *Ledger) CopyOf(events []Event) *Ledger {
	some := New()
	for _, ev := range events {
		if p, known := g.pods[ev.Pod]; known {
			p.containers = slices.Clone(p.containers)
			some.pods[ev.Pod] = p
		}
	}
	return some
}
