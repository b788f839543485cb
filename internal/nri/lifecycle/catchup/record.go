// SPDX-License-Identifier: Apache-2.0

package catchup

import (
	"maps"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// Records are the records of all names. They have no lock of their own.
type Records struct {
	Store Store
	// Encode turns the Request of an end into a text.
	Encode func(ledger.Event) string
	// Implied makes the Request of an end that the runtime did not submit, as
	// lifecycle.Options.ImpliedEnd does.
	Implied func(kind ledger.Kind, container string, of ledger.Event) any
}

// A Record belongs to the plugin of one name: it has the kinds that its last connection wanted,
// and the ends that it has missed. It is nil for a plugin that wants no ends or was
// forgotten: then nothing is kept. It has no lock of its own: the lock that guards the ledger
// of the name guards the record, too.
type Record struct {
	of    *Records
	name  string
	wants ledger.Kinds
	some  bool // whether missed ends may be stored
	gone  bool // whether objects that the plugin knows may have ended while no runtime ran
	safe  bool // whether the store has synced that the plugin left, and what it knows
}

// Joined records that a plugin is synchronized, and returns its record from now on. r is its
// record so far, nil if it has none.
func (rs *Records) Joined(r *Record, name string, wants ledger.Kinds) *Record {
	ends := wants.EndNames()
	switch {
	case len(ends) > 0 && r == nil:
		r = &Record{of: rs, name: name}
	case len(ends) == 0:
		r.Forget()
		return nil
	}
	r.wants, r.safe = wants, false
	rs.Store.Joined(name, ends)
	return r
}

// Left records that the plugin has left, and knew what g has.
func (r *Record) Left(g *ledger.Ledger) {
	r.of.Store.Left(r.name, func(yield func([2]string, bool) bool) {
		for id, goesOn := range g.All() {
			if !yield(nameOf(id), !goesOn) {
				return
			}
		}
	})
}

// Safe records that the store has synced what Left wrote. From then on a missed end is found
// again even if it is not stored, for as long as the runtime lists the object.
func (r *Record) Safe() {
	if r != nil {
		r.safe = true
	}
}

// Wants returns the kinds that the last connection of the plugin wanted, none without a record.
func (r *Record) Wants() ledger.Kinds {
	if r == nil {
		return 0
	}
	return r.wants
}

// Miss stores an end that the plugin has missed. urgent is whether the store must be synced
// before the runtime forgets the object. kept is false if the name was forgotten.
func (r *Record) Miss(end ledger.Event) (urgent, kept bool) {
	r.some = true
	kept = r.of.Store.Miss(r.name, end.Kind.String(), nameOf(end.ID()), r.of.Encode(end))
	return !r.safe || end.Kind.Removal(), kept
}

// Heard records that the plugin has answered an end.
func (r *Record) Heard(end ledger.Event) {
	if r != nil && r.some {
		r.some = r.delivered(end) > 0
	}
}

// delivered deletes a missed end from the store, and returns how many are left.
func (r *Record) delivered(end ledger.Event) (left int) {
	return r.of.Store.Delivered(r.name, end.Kind.String(), nameOf(end.ID()))
}

// Forget drops all that is kept for the name, and returns how many missed ends that were.
func (r *Record) Forget() (dropped int) {
	if r == nil {
		return 0
	}
	return r.of.Store.Forget(r.name)
}

// A Missed end is an end that a plugin that is back must receive, after all that comes before it.
type Missed struct {
	End    ledger.Event
	Stored string // its request, if the event has none
	Unkept bool   // it is not stored yet
	Last   bool   // it is the last missed end of a pod that was removed
}

// Missed returns the ends that a plugin that is back has missed, the oldest first. received is
// its Synchronize, g its ledger from then on, and former its ledger before. An end of an object
// in received is not missed: the runtime will submit it. The exception is the Stop of a pod that
// has stopped, which the runtime does not submit again. It may be missing in the store, if the
// runtime was killed before it was stored.
func (r *Record) Missed(received ledger.Snapshot, g, former *ledger.Ledger) (missed []Missed) {
	there := received.Index()
	if r != nil {
		stored, settled := r.stored(there)
		for _, end := range settled {
			r.delivered(end)
		}
		missed = append(stored, r.unstored(received.Pods, former, stored)...)
		r.some = len(missed) > 0
	}
	last := make(map[string]int) // the index of the last missed end of a pod
	for i, m := range missed {
		last[m.End.Pod] = i
	}
	for pod := range g.Removed() {
		end := ledger.ID{Pod: pod}.Removal()
		if i, is := last[pod]; is {
			missed[i].Last = true
		} else if _, listed := there[end.ID()]; !listed {
			g.Delivered(end) // nothing of it is stored: it is unwanted, or the store has dropped it
		}
	}
	return missed
}

// Expected returns the ends that the plugin would have missed if it were back now, the oldest first,
// and changes nothing.
func (r *Record) Expected(received ledger.Snapshot, former *ledger.Ledger) (missed []Missed) {
	if r == nil {
		return nil
	}
	stored, _ := r.stored(received.Index())
	return append(stored, r.unstored(received.Pods, former, stored)...)
}

// stored returns the stored ends that the plugin must still receive, and those that are settled.
func (r *Record) stored(there map[ledger.ID]ledger.Object) (missed []Missed, settled []ledger.Event) {
	for due := range r.of.Store.Missed(r.name) {
		end := eventOf(due)
		o, listed := there[end.ID()]
		toCome := listed && (end.Kind != ledger.StopPodSandbox || !o.Stopped)
		if toCome || !end.Kind.Final() || !r.wants.Has(end.Kind) {
			settled = append(settled, end)
			continue
		}
		missed = append(missed, Missed{End: end, Stored: due.Request})
	}
	return missed, settled
}

// unstored returns the missed Stops of pods that have stopped, except for the stored ones.
func (r *Record) unstored(pods []ledger.Object, former *ledger.Ledger, stored []Missed) (missed []Missed) {
	stops := make(map[string]bool)
	for _, m := range stored {
		stops[m.End.Pod] = stops[m.End.Pod] || m.End.Kind == ledger.StopPodSandbox
	}
	for _, o := range pods {
		if !o.Stopped || stops[o.Pod] || !former.GoesOn(o.ID()) {
			continue
		}
		stop := o.ID().Stop()
		stop.Request = r.of.Implied(stop.Kind, "", ledger.Event{Pod: o.Pod, Request: o.Value})
		missed = append(missed, Missed{End: stop, Unkept: true})
	}
	return missed
}

// MissGone records as missed the ends of all objects that the plugin knows and that no longer
// exist. It does so once in each run of the runtime, which submits all ends during the run.
func (r *Record) MissGone(g *ledger.Ledger, there ledger.Snapshot) {
	if r == nil || !r.gone {
		return
	}
	r.gone = false
	ids := there.Index()
	for _, o := range there.Exited {
		ids[o.ID()] = o
	}
	for id := range maps.Collect(g.All()) {
		pod, podIs := ids[ledger.ID{Pod: id.Pod}]
		if _, is := ids[id]; is || id.Container != "" && !podIs && g.Knows(ledger.ID{Pod: id.Pod}) {
			continue // it still exists, or ends with its pod
		}
		end, of := id.Removal(), ledger.Event{Pod: id.Pod}
		if podIs {
			of.Request = pod.Value
		}
		end.Request = r.of.Implied(end.Kind, end.Container, of)
		r.miss(g, end)
		if !podIs {
			g.MarkRemoved([]ledger.Event{ledger.ID{Pod: id.Pod}.Removal()}) // g may have only its containers
		}
	}
}

// miss records an end as missed, and what must be delivered before it.
func (r *Record) miss(g *ledger.Ledger, end ledger.Event) {
	g.CopyOf([]ledger.Event{end}).Complete(end, func(ev ledger.Event) {
		if !r.wants.Has(ev.Kind) {
			return
		}
		if !ev.Same(&end) {
			ev.Request = r.of.Implied(ev.Kind, ev.Container, end)
		}
		r.Miss(ev)
	})
}
