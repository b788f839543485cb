// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"iter"
	"time"
)

// Owed keeps what has to outlive a connection, and the runtime: which names of
// plugins there are, what those know that are away, and the ends that they have
// not heard (L18). The engine knows nothing of where.
//
// Nothing but Sync may block, and the engine holds a lock while it calls. What is
// noted comes back from Names, Known and Owes in the same order, at once in this
// run of the runtime, and in the next one if it was synced.
//
// A name is the index and name of a plugin, a kind is that of an end as NRI calls
// it, and an object is the ids of a pod and of a container, the latter empty for
// the pod itself.
type Owed interface {
	// Joined notes that a plugin of the name is synchronized, and which kinds of ends
	// it wants. From here on nothing is known of what it knows.
	Joined(name string, wants []string)

	// Left notes that the name is away since now, and what it knows: the objects,
	// each with whether it was told that it has stopped.
	Left(name string, known iter.Seq2[[2]string, bool])

	// Owe notes an end that the name has not heard. An end that is owed already is
	// owed once. request is nil if the name did not subscribe to it: then it is noted
	// only that it has ended. It returns false if the name was forgotten.
	Owe(name, kind string, object [2]string, request []byte) bool

	// Paid notes that an end was heard, and returns how many the name is still owed.
	Paid(name, kind string, object [2]string) (left int)

	// Forget drops a name, and returns how many ends it was owed.
	Forget(name string) (dropped int)

	// Names returns the names, with the kinds they want, and since when each is away:
	// zero for one that was connected when this or an earlier runtime last knew.
	Names() iter.Seq2[string, Presence]

	// Known returns what a name that is away knows, as Left has it.
	Known(name string) iter.Seq2[[2]string, bool]

	// Owes returns what a name is owed, the oldest first.
	Owes(name string) iter.Seq[Due]

	// Sync returns when all that was noted before is safe, or cannot be made so: it
	// waits no longer than a pod may.
	Sync()
}

// A Presence says whether a name is there.
type Presence = struct {
	Wants []string
	Away  time.Time
	Owed  int
}

// A Due is an end that is owed.
type Due = struct {
	Kind    string
	Object  [2]string
	Request []byte
	Since   time.Time
}

// endsWanted are the kinds of ends that the lane's plugin subscribed to, by name.
func (l *lane) endsWanted() (wants []string) {
	for k := range kinds {
		if k.final() && l.subscribed(k) {
			wants = append(wants, k.String())
		}
	}
	return wants
}

// kindOf returns the kind of a name, zero if there is none.
func kindOf(name string) Kind {
	for k := range kinds {
		if kindNames[k] == name {
			return k
		}
	}
	return 0
}

// owe notes an end that the lane's name has not heard. goal is what the runtime
// handed in, which may be another end. l.mu is held, so that ends are owed in the
// order in which the ledger has them.
func (l *lane) owe(r *round, ev Event, goal *Event) {
	o := l.engine.opts.Owed
	if o == nil || !l.joined || l.passed || l.twin {
		return
	}
	if !ev.same(goal) {
		ev = l.engine.implied(r, ev, *goal)
	}
	if !l.safe || ev.Kind.removal() {
		r.owes.Store(true)
	}
	l.owing = true
	if !l.unpaid(ev) {
		l.ledger = newLedger() // the name was forgotten
	}
}

// unpaid notes an end as one that the lane's name is owed. It returns false if the name
// was forgotten.
func (l *lane) unpaid(ev Event) bool {
	o := &l.engine.opts
	return o.Owed.Owe(l.name, ev.Kind.String(), [2]string{ev.Pod, ev.Container}, o.Encode(ev))
}

// pays notes that an end is owed no more, and returns how many the name is still owed.
func (l *lane) pays(ev Event) (left int) {
	return l.engine.opts.Owed.Paid(l.name, ev.Kind.String(), [2]string{ev.Pod, ev.Container})
}

// oweAll owes a name that is away all that a round would tell it. l.mu is held.
func (l *lane) oweAll(r *round) {
	p := part{round: r}
	for {
		ev, ok := l.nextEnd(r, &p.next)
		if !ok {
			return
		}
		l.owe(r, ev, &r.events[p.next])
	}
}

// oweRest owes what a part has still to tell, though it may: the runtime is about
// to go on without the answers. l.mu is held.
func (l *lane) oweRest(p *part) {
	if l.engine.opts.Owed == nil || !l.joined || p.over {
		return
	}
	if r := l.current; r != nil && r.part != nil {
		l.owe(p.round, r.event, &r.event) // whoever waits for that: it comes first
	}
	whole := l.ledger
	l.ledger = whole.copyOf(p.round.events)
	next := p.next
	for {
		ev, ok := l.nextEnd(p.round, &next)
		if !ok {
			break
		}
		l.owe(p.round, ev, &p.round.events[next])
	}
	l.ledger = whole
}

// unsubscribed notes an end that a name that is away knows and does not want.
// l.mu is held.
func (l *lane) unsubscribed(kind Kind, pod, container string) {
	if o := l.engine.opts.Owed; o != nil && l.closed != nil && l.joined && !l.passed {
		o.Owe(l.name, kind.String(), [2]string{pod, container}, nil)
	}
}

// heard notes that an end was answered that may be owed. l.mu is held.
func (l *lane) heard(ev Event) {
	if l.owing && ev.Kind.final() {
		l.owing = l.pays(ev) > 0
	}
}
