// SPDX-License-Identifier: Apache-2.0

package catchup

import (
	"maps"
	"slices"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// Records are those of all names. They have no lock of their own.
type Records struct {
	Store Store
	// Encode makes a text of the Request of an end.
	Encode func(ledger.Event) string
	// Implied makes the Request of an end that the runtime did not hand in, as
	// lifecycle.Options.ImpliedEnd does.
	Implied func(kind ledger.Kind, container string, of ledger.Event) any
}

// A Record is what is kept of the plugin of one name: what its last connection wanted, and
// what it has missed. There is none, which is nil, of a plugin that wants no ends or was
// forgotten; then nothing is kept. It has no lock of its own: whoever has the ledger of the
// name guards both.
type Record struct {
	of    *Records
	name  string
	wants ledger.Kinds
	some  bool // whether something may be stored that the plugin has missed
	gone  bool // whether what it knows may have gone while the runtime was disconnected
	safe  bool // whether it is stored that the plugin is disconnected, and what it knows
}

// Joined notes that the plugin of a record, or of a name that has none, is there, and returns
// the record from now on.
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

// Left notes that the plugin has left, and that it knew what g has.
func (r *Record) Left(g *ledger.Ledger) {
	r.of.Store.Left(r.name, func(yield func([2]string, bool) bool) {
		for id, goesOn := range g.All() {
			if !yield(nameOf(id), !goesOn) {
				return
			}
		}
	})
}

// Safe notes that what was noted when the plugin left is safe. From then on an end is missed
// whether or not it is stored, for as long as the runtime lists the object.
func (r *Record) Safe() {
	if r != nil {
		r.safe = true
	}
}

// Wants are the kinds that the last connection of the plugin wanted; of no record, none.
func (r *Record) Wants() ledger.Kinds {
	if r == nil {
		return 0
	}
	return r.wants
}

// Miss notes an end that the plugin has not heard. urgent says that it has to be safe before the
// runtime forgets the object. kept is false if the name was forgotten.
func (r *Record) Miss(end ledger.Event) (urgent, kept bool) {
	r.some = true
	kept = r.of.Store.Miss(r.name, end.Kind.String(), nameOf(end.ID()), r.of.Encode(end))
	return !r.safe || end.Kind.Removal(), kept
}

// Heard notes that the plugin has answered an end.
func (r *Record) Heard(end ledger.Event) {
	if r != nil && r.some {
		r.some = r.delivered(end) > 0
	}
}

// delivered notes that an end is missed no more, and returns how many the plugin still misses.
func (r *Record) delivered(end ledger.Event) (left int) {
	return r.of.Store.Delivered(r.name, end.Kind.String(), nameOf(end.ID()))
}

// Forget drops all that is kept of the name, and returns how many ends it was owed.
func (r *Record) Forget() (dropped int) {
	if r == nil {
		return 0
	}
	return r.of.Store.Forget(r.name)
}

// A Missed end is one that a plugin that is back is to be told, with all that has to be told
// before it.
type Missed struct {
	End    ledger.Event
	Stored string // its request, if the event has none
	Unkept bool   // it is not stored yet
	Last   bool   // the pod was removed, and this is the last of it that is told
}

// Missed returns what a plugin that is back has missed, the oldest first. told is what its
// Synchronize has, g what it knows from then on, and former what it knew before. Of what it
// was just told to be there the end is still to come, and will be told then; but for a pod
// that has stopped, whose Stop does not come again. That has none that is stored if the
// runtime was killed before it was.
func (r *Record) Missed(received ledger.Snapshot, g, former *ledger.Ledger) (missed []Missed) {
	there := received.Index()
	if r != nil {
		missed = r.stored(there)
		missed = append(missed, r.unstored(received.Pods, former, missed)...)
		r.some = len(missed) > 0
	}
	last := make(map[string]int) // of a pod, the index of what is told of it last
	for i, m := range missed {
		last[m.End.Pod] = i
	}
	for pod := range g.Removed() {
		end := ledger.ID{Pod: pod}.Removal()
		if i, is := last[pod]; is {
			missed[i].Last = true
		} else if _, listed := there[end.ID()]; !listed {
			g.Delivered(end) // nothing of it is stored: it is unwanted, or was given up
		}
	}
	return missed
}

// stored returns what is stored of what the plugin has missed and is still to be told.
func (r *Record) stored(there map[ledger.ID]ledger.Object) (missed []Missed) {
	for _, due := range slices.Collect(r.of.Store.Missed(r.name)) {
		end := eventOf(due)
		o, listed := there[end.ID()]
		toCome := listed && (end.Kind != ledger.StopPodSandbox || !o.Stopped)
		if toCome || !end.Kind.Final() || !r.wants.Has(end.Kind) {
			r.delivered(end)
			continue
		}
		missed = append(missed, Missed{End: end, Stored: due.Request})
	}
	return missed
}

// unstored returns the Stops of pods that have stopped, and that the plugin has not heard, but
// for those that are stored.
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

// MissGone has the plugin miss the ends of all that it knows and that is not there any more, once in
// a run of the runtime: in a run all that ends is handed in.
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
			continue // it is there, or ends with its pod
		}
		end, of := id.Removal(), ledger.Event{Pod: id.Pod}
		if podIs {
			of.Request = pod.Value
		}
		end.Request = r.of.Implied(end.Kind, end.Container, of)
		r.miss(g, end)
		if !podIs {
			g.MarkRemoved([]ledger.Event{ledger.ID{Pod: id.Pod}.Removal()}) // also one of which containers alone are known
		}
	}
}

// miss notes an end, and what has to be told before it.
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
