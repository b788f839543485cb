// SPDX-License-Identifier: Apache-2.0

package catchup

import "github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"

// A Recalled plugin has been disconnected since before this runtime started.
type Recalled struct {
	Name   string
	Record *Record
	Ledger *ledger.Ledger // the objects that it knows
}

// Recall returns the plugins of these names, which the store has kept since before the runtime
// started. there has what the runtime lists now, and listed is false if that failed. cut has, by
// plugin name, the objects whose creation the end of the runtime interrupted: the plugin has
// received them, and the runtime does not list them.
func (rs *Records) Recall(names map[string]Presence, there ledger.Snapshot, listed bool, cut map[string][]ledger.Object) (all []Recalled) {
	for name, p := range names {
		r := &Record{of: rs, name: name, wants: ledger.KindsNamed(p.Wants), gone: true}
		g := r.knew(p, there, cut[name])
		if listed {
			if p.Disconnected.IsZero() {
				r.Left(g)
			}
			r.MissGone(g, there) // while the list has the pods of containers that have gone
		}
		all = append(all, Recalled{name, r, g})
	}
	return all
}

// knew returns the ledger of a plugin. A plugin that was connected when the last runtime ended
// knew what the runtime lists and what cut has; one that was disconnected, what was stored when
// it left. Both know the objects of the ends that they have missed. If the list failed, the
// store stays as it is, and the ends of objects that have gone are found when the plugin is back.
func (r *Record) knew(p Presence, there ledger.Snapshot, cut []ledger.Object) *ledger.Ledger {
	g := ledger.New()
	if p.Disconnected.IsZero() {
		g = knownTo(there)
		for _, o := range cut {
			g.Know(o.ID(), true)
		}
	} else {
		for o, over := range r.of.Store.Known(r.name) {
			g.Know(ledger.ID{Pod: o[0], Container: o[1]}, !over)
		}
	}
	var missed []ledger.Event
	for due := range r.of.Store.Missed(r.name) {
		missed = append(missed, eventOf(due))
	}
	g.Miss(missed)
	return g
}

// knownTo returns the ledger of a plugin that knows all that the runtime lists.
func knownTo(there ledger.Snapshot) *ledger.Ledger {
	g := ledger.Synchronized(there, ledger.New())
	for _, c := range there.Exited {
		pod := ledger.ID{Pod: c.Pod}
		g.Know(c.ID(), !g.Knows(pod) || g.GoesOn(pod)) // before its pod
	}
	return g
}
