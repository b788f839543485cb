// SPDX-License-Identifier: Apache-2.0

package ledger

import "iter"

// The ledger of a plugin that is disconnected, or was when the runtime started.

// Know records a pod or container unless it is known. stops is whether its Stop must still be
// delivered.
func (g *Ledger) Know(id ID, stops bool) {
	switch {
	case g.Knows(id):
	case id.Container != "":
		g.enter(id.Pod, containerEntry{id: id.Container, mark: inherited(stops)})
	default:
		p := g.pods[id.Pod]
		p.mark = inherited(stops)
		g.pods[id.Pod] = p
	}
}

// reopen records that the plugin has not received the Stop of a pod or container that has
// stopped.
func (g *Ledger) reopen(id ID) {
	p := g.pods[id.Pod]
	switch {
	case g.GoesOn(id):
		return
	case id.Container == "":
		p.mark = over
	case p.container(id.Container) != nil:
		p.container(id.Container).mark = listed
		p.running++
	default:
		g.enter(id.Pod, containerEntry{id: id.Container, mark: listed})
		return
	}
	g.pods[id.Pod] = p
}

// Miss turns a ledger that knows all existing objects into the ledger of a plugin that has
// missed some ends: the plugin knows their objects, and has received what comes before these
// ends. The ends need no requests. The runtime may still list the objects, if it was killed
// after it had submitted the ends.
func (g *Ledger) Miss(missed []Event) {
	missing := make(map[Event]bool, len(missed))
	for _, ev := range missed {
		missing[ev] = true
		if ev.Kind.Removal() {
			g.Know(ev.ID(), false)
		} else {
			g.reopen(ev.ID())
		}
	}
	left := g.CopyOf(missed)
	for _, goal := range missed {
		left.Complete(goal, func(ev Event) {
			if !missing[ev] {
				g.Delivered(ev)
			}
		})
	}
}

// MarkRemoved marks the pods that some ends remove while the plugin is disconnected. No later
// event concerns these pods.
func (g *Ledger) MarkRemoved(ends []Event) {
	for _, ev := range ends {
		if p, known := g.pods[ev.Pod]; known && ev.Kind == RemovePodSandbox {
			p.removed = true
			g.pods[ev.Pod] = p
		}
	}
}

// Removed returns the ids of the pods that MarkRemoved has marked.
func (g *Ledger) Removed() iter.Seq[string] {
	return func(yield func(string) bool) {
		for id, p := range g.pods {
			if p.removed && !yield(id) {
				return
			}
		}
	}
}

// All returns each known pod and container, and whether its Stop must still be delivered.
func (g *Ledger) All() iter.Seq2[ID, bool] {
	return func(yield func(ID, bool) bool) {
		for id, p := range g.pods {
			if p.mark != unknown && !yield(ID{Pod: id}, p.mark.stops()) {
				return
			}
			for _, c := range p.containers {
				if !yield(ID{id, c.id}, c.mark.stops()) {
					return
				}
			}
		}
	}
}
