// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// makeOffer makes of the list, and of what has begun since, what there is for the first
// in this moment, in which nothing is sent to it. mu is held, and that of the first.
func (e *Engine) makeOffer(l, first *lane) {
	o := offering{engine: e, first: &first.ledger, omit: l.inventory.omit, at: make(map[object]int)}
	for _, p := range l.inventory.snapshot.Pods {
		o.pod(p)
	}
	for _, ev := range l.inventory.creations {
		o.container(Object{Pod: ev.Pod, Container: ev.Container, Value: ev.Request})
	}
	for _, c := range l.inventory.snapshot.Containers {
		o.container(c)
	}
	for _, ev := range first.records {
		if _, listed := o.at[ev.object()]; listed || !first.ledger.knows(ev.Pod, ev.Container) {
			continue
		}
		obj := Object{Pod: ev.Pod, Container: ev.Container, Value: ev.Request}
		if ev.Container != "" {
			o.container(obj)
			continue
		}
		c := e.creations[ev.object()]
		obj.Creating = c != nil && !c.sealed
		o.pod(obj)
	}
	l.offered, l.knew = &o.made, first.ledger.copied()
}

// An offering is a Snapshot that is made for a successor. What the first knows comes
// before what the engine knows: the ends that wait for it are told to the successor.
type offering struct {
	engine *Engine
	first  *ledger
	omit   bool
	at     map[object]int
	made   Snapshot
}

func (o *offering) pod(p Object) {
	stage := o.engine.ended.stage(object{pod: p.Pod})
	known := o.first.pods[p.Pod]
	switch {
	case known.mark != unknown:
		p.Stopped = !known.stops()
	case stage == leaving, o.omit && p.Creating:
		return
	default:
		p.Stopped = p.Stopped || stage == ended
	}
	o.made.Pods = o.add(o.made.Pods, p)
}

func (o *offering) container(c Object) {
	known, knows := o.first.containers[c.Container]
	if knows && !known.stops() || !knows && o.engine.ended.stage(object{c.Pod, c.Container}) != alive {
		return
	}
	o.made.Containers = o.add(o.made.Containers, c)
}

// add adds an object, or puts it in place of what was read of it earlier.
func (o *offering) add(objects []Object, one Object) []Object {
	if i, twice := o.at[object{one.Pod, one.Container}]; twice {
		objects[i] = one
		return objects
	}
	o.at[object{one.Pod, one.Container}] = len(objects)
	return append(objects, one)
}

// turn has events turn from a connection to its successor: its place, its line, and what
// the name knows and is owed. What the successor is told of by Synchronize becomes its own
// once that is answered; if it never is, the name knows what it knew (L3). turn says
// whether the successor has taken over. mu is held.
func (e *Engine) turn(first, l *lane) bool {
	first.mu.Lock()
	defer first.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if first.successor != nil || first.closed != nil || l.closed != nil {
		return first.successor == l
	}
	if r := first.current; r != nil && (!r.answered || errors.Is(r.err, ErrClosed)) {
		first.unsend(r)
	}
	if l.offered == nil {
		e.makeOffer(l, first)
	}
	if r := first.current; r != nil && r.part != nil {
		first.owe(r.part.round, r.event, &r.event) // which is cut
	}
	missed := e.missedBy(l, first)
	l.ledger.inherit(first.ledger)
	l.takeLine(first, missed)
	l.joined, l.seq, l.origins = true, first.seq, first.originsFor(l)
	e.lanes, e.askable = replaced(e.lanes, first, l), replaced(e.askable, first, l)
	e.pending = without(e.pending, l)
	first.successor, first.heir, first.passed = l, l, true
	first.kept, first.keeping, first.next = nil, false, nil
	first.recording, first.records = false, nil
	first.ledger = newLedger()
	return true
}

// takeLine takes over what waits for the first, behind what the successor has missed and what
// is left of the request under way. The locks of both are held.
func (l *lane) takeLine(first *lane, missed []entry) {
	for i, waits := range first.line {
		if ev := waits.note; ev.Kind.first() && l.subscribed(ev.Kind) {
			first.line[i] = first.missedNote(ev)
		}
		if waits.caller != nil {
			waits.caller.at.Store(l)
		}
		if waits.part != nil {
			waits.part.at.Store(l)
		}
	}
	l.line = slices.Concat(missed, first.restOfCurrent(l), first.line)
	for _, waits := range l.line {
		l.weight += waits.weight
	}
	first.line, first.weight, first.debts = nil, 0, nil
}

// missedNote is what the plugin has not subscribed to, for a successor that has: nobody
// waits for it any more. l.mu is held.
func (l *lane) missedNote(ev Event) entry {
	for _, begun := range l.records {
		if begun.object() == ev.object() {
			ev.Request = begun.Request // which does not change any more
		}
	}
	ev.Late = true
	return entry{missed: &ev, weight: l.engine.opts.Weigh(ev)}
}

// replaced returns the lanes with one in the place of another.
func replaced(lanes []*lane, old, by *lane) []*lane {
	lanes = slices.Clone(lanes)
	if i := slices.Index(lanes, old); i >= 0 {
		lanes[i] = by
	}
	return lanes
}

// unsend takes back that a plugin was asked for something, since it is gone and will not
// answer: its successor is asked too, and knows of it, since that plugin may have. l.mu
// is held.
func (l *lane) unsend(r *request) {
	if !r.event.Kind.first() || r.event.Late || r.expired || r.abandoned {
		return
	}
	o := r.event.object()
	l.records = slices.DeleteFunc(l.records, func(ev Event) bool { return ev.object() == o })
}

// restOfCurrent is what is left of the teardown that the plugin is at, for its successor.
// Nobody waits for it any more. l.mu is held.
func (l *lane) restOfCurrent(successor *lane) []entry {
	r := l.current
	if r == nil || r.part == nil || r.part.over {
		return nil
	}
	rest := &part{round: r.part.round, posted: r.part.posted, next: r.part.next, late: true}
	rest.at.Store(successor)
	r.part.over = true
	r.part.release()
	return []entry{{part: rest}}
}

// missedBy returns what a successor has still to be told of what the first was since it
// was synchronized, nothing if nothing was sent to the first. What began is told late.
// mu is held, and those of both.
func (e *Engine) missedBy(l, first *lane) (line []entry) {
	told := newLedger()
	told.seed(*l.offered)
	for o, c := range e.creations {
		if o.container != "" && !c.sealed && first.ledger.knows(o.pod, o.container) && !told.knows(o.pod, o.container) {
			c.heirs = append(c.heirs, l)
		}
	}
	if !l.behind {
		return nil
	}
	for _, ev := range first.records {
		c := e.creations[ev.object()]
		switch {
		case told.knows(ev.Pod, ev.Container) || !first.ledger.goesOn(ev.object()):
		case c != nil && slices.Contains(c.heirs, l): // when it is sealed
		default:
			ev.Late = true
			line = append(line, entry{missed: &ev, weight: e.opts.Weigh(ev)})
		}
	}
	if ends := l.endedSince(first); len(ends) > 0 {
		p := &part{round: &round{ctx: e.ctx, events: ends}, posted: time.Now(), late: true}
		p.at.Store(l)
		line = append(line, entry{part: p})
	}
	return line
}

// endedSince returns the ends of what a successor was told of and that the first has
// heard meanwhile, or that was never told of it. Those of containers come first.
// Engine.mu is held, and the locks of both.
func (l *lane) endedSince(first *lane) (ends []Event) {
	end := func(o object, stop, remove Kind, running bool) {
		ev := Event{Pod: o.pod, Container: o.container}
		stage := l.engine.ended.stage(o)
		switch known := first.ledger.knows(o.pod, o.container); {
		case !known && (l.knew.knows(o.pod, o.container) || stage == leaving):
			ev.Kind = remove
		case running && (known && !first.ledger.goesOn(o) || !known && stage == ended):
			ev.Kind = stop
		default:
			return
		}
		ev.Request = l.engine.opts.ImpliedEnd(ev.Kind, ev.Container, Event{Pod: ev.Pod})
		ends = append(ends, ev)
	}
	for _, c := range l.offered.Containers {
		end(object{c.Pod, c.Container}, StopContainer, RemoveContainer, true)
	}
	for _, p := range l.offered.Pods {
		end(object{pod: p.Pod}, StopPodSandbox, RemovePodSandbox, !p.Stopped)
	}
	return ends
}

// goesOn says whether the Stop of what is known is still to be told.
func (g *ledger) goesOn(o object) bool {
	if o.container != "" {
		c, known := g.containers[o.container]
		return known && c.stops()
	}
	return g.pods[o.pod].stops()
}

// copied returns a copy.
func (g *ledger) copied() ledger {
	return ledger{pods: maps.Clone(g.pods), containers: maps.Clone(g.containers)}
}
