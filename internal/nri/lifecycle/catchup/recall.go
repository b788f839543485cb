// SPDX-License-Identifier: Apache-2.0

package catchup

import "github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"

// A Recalled plugin was there before this runtime, and is disconnected since.
type Recalled struct {
	Name   string
	Record *Record
	Ledger *ledger.Ledger // what it knows
}

// Recall returns the plugins of some names, as the store has them, that were there before the
// runtime was started. there is what the runtime lists now, and listed is false if it could not.
// cut returns, by the name, what was cut in its creation: a plugin was told of it, and the runtime
// does not list it.
func (rs *Records) Recall(names map[string]Presence, there ledger.Snapshot, listed bool, cut map[string][]ledger.Object) (all []Recalled) {
	for name, p := range names {
		r := &Record{of: rs, name: name, wants: ledger.KindsNamed(p.Wants), gone: true}
		g := r.knew(p, there, cut[name])
		if listed {
			if p.Disconnected.IsZero() {
				r.Left(g)
			}
			r.MissGone(g, there) // while the pods of what has gone are there
		}
		all = append(all, Recalled{name, r, g})
	}
	return all
}

// knew returns what a plugin knew. Of one that was there to the end that is what the
// runtime lists, but for what has ended as far as it is concerned: what it has missed. Without
// a list that is what it has missed and, if it was disconnected before, what was stored: what is kept
// stays as it is, for the next restart, and what has gone is found when the plugin is back.
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

// knownTo returns what a plugin knows that knows all that the runtime lists.
func knownTo(there ledger.Snapshot) *ledger.Ledger {
	g := ledger.Synchronized(there, ledger.New())
	for _, c := range there.Exited {
		pod := ledger.ID{Pod: c.Pod}
		g.Know(c.ID(), !g.Knows(pod) || g.GoesOn(pod)) // before its pod
	}
	return g
}
