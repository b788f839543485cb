// SPDX-License-Identifier: Apache-2.0

package ledger

import "iter"

// What a ledger says of a plugin that is disconnected, or was when the runtime was last started.

// Know enters a pod or container that is not known.
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

// reopen enters what has stopped and was not told so.
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

// Miss makes of a ledger that knows what there is that of a plugin that has missed
// some ends, which have no requests here: it knows their objects, and was told what came
// before them. The runtime may have been killed after it handed them in, and list the
// objects still.
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

// MarkRemoved notes the pods that ends remove while the plugin is disconnected: nothing comes for
// them any more.
func (g *Ledger) MarkRemoved(ends []Event) {
	for _, ev := range ends {
		if p, known := g.pods[ev.Pod]; known && ev.Kind == RemovePodSandbox {
			p.removed = true
			g.pods[ev.Pod] = p
		}
	}
}

// Removed returns the pods that MarkRemoved has noted.
func (g *Ledger) Removed() iter.Seq[string] {
	return func(yield func(string) bool) {
		for id, p := range g.pods {
			if p.removed && !yield(id) {
				return
			}
		}
	}
}

// All returns what is known, and of each whether its Stop is still to be told.
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
