// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"iter"
	"maps"
	"slices"
)

// ErrStopped rejects what begins in a pod that is being stopped, or what is
// itself being undone or has ended: a creation, or a start (L11).
var ErrStopped = errors.New("already stopped")

// A Ledger is what one connection knows of each pod and container, and so
// what it may still be sent. It is where order, ends and the last word are kept,
// for all connections, in one place (L1, L3, L11).
//
// What begins is entered just before it is sent, not when that succeeded: a plugin
// that rejected or timed out may have acted on it, and must hear the end. An end is
// entered when it was answered: until then it is still to be told, to the next
// connection of the name if this one is lost (L18).
//
// A ledger has no lock of its own: its owner's lock guards it.
type Ledger struct {
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
	removed    bool             // its Remove came while the plugin was disconnected
	running    int              // containers that had no Stop
	containers []containerEntry // few
}

type containerEntry struct {
	id     string
	mark   mark
	former bool // told to an earlier connection of the name, and not to this one
}

// New returns an empty ledger.
func New() *Ledger { return &Ledger{pods: make(map[string]podEntry)} }

// Synchronized returns the ledger of a connection that was told of s by Synchronize, and
// whose name knew former before. A first event of what that knew may come all the same, in
// time or late: to this connection it is one. A pod that has stopped, and whose Stop the
// name has not heard, gets it yet.
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

// inherited is the mark of what was not told by its own first event, by whether its Stop
// is still to be told.
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

// Knows says whether a pod or container is known.
func (g *Ledger) Knows(id ID) bool {
	p := g.pods[id.Pod]
	if id.Container == "" {
		return p.mark != unknown
	}
	return p.container(id.Container) != nil
}

// GoesOn says whether the Stop of a pod or container is still to be told.
func (g *Ledger) GoesOn(id ID) bool {
	p := g.pods[id.Pod]
	if id.Container == "" {
		return p.mark.stops()
	}
	return p.markOf(id.Container).stops()
}

// Begun says whether the RunPodSandbox of a pod was told.
func (g *Ledger) Begun(pod string) bool { return g.pods[pod].mark == begun }

// Pods returns the ids of the pods that the plugin knows, or knows containers of.
func (g *Ledger) Pods() iter.Seq[string] { return maps.Keys(g.pods) }

// Count returns how many pods and containers are known.
func (g *Ledger) Count() (pods, containers int) {
	for _, p := range g.pods {
		containers += len(p.containers)
	}
	return len(g.pods), containers
}

// CopyOf returns a copy of what is known of the pods of some events.
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
