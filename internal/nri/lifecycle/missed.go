// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"
	"slices"
	"time"
)

// What a plugin misses while it is away (L18). Its lane stays, with its ledger, and has no
// session. Ends that are handed in are noted in a store, and do not change the ledger:
// they are still to be told. When the plugin is back, they are parts of a teardown at the
// head of its line, and the ledger says of each, as of any other, whether it is to be
// told. After a restart a lane is made of what was stored.

// away is what a lane knows of what its plugin has missed. The lane's lock guards it.
type away struct {
	kept   bool    // whether what the plugin misses is stored: it has been here, and wants ends
	wants  kindSet // what its last connection subscribed to
	owing  bool    // whether something may be stored that it has missed
	gone   bool    // whether what it knows may have gone while the runtime was away
	safe   bool    // whether it is stored that the plugin is away, and what it knows
	breaks breaks
}

// makeSafe sees to it that a restart finds a plugin away that has left, with what it knows.
// From then on an end is missed whether or not it was noted, for as long as the runtime
// lists the object; before, all that is missed has to be stored.
func (e *Engine) makeSafe(s *session) {
	if e.opts.Owed == nil || s.lane == nil {
		return
	}
	e.opts.Owed.Sync()
	l := s.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		l.safe = true
	}
}

// vacate sees to a lane whose plugin has left, and that has no successor. mu and l.mu are
// held.
func (e *Engine) vacate(l *lane) {
	if !l.kept {
		e.remove(l)
		return
	}
	e.opts.Owed.Left(l.name, l.ledger.all())
	stored := maps.Collect(e.opts.Owed.Names())
	for name, o := range e.names {
		if _, is := stored[name]; !is && o.session == nil {
			e.remove(o) // it was forgotten meanwhile
		}
	}
}

// remove takes a lane out. mu is held.
func (e *Engine) remove(l *lane) {
	e.lanes = without(e.lanes, l)
	if e.names[l.name] == l {
		delete(e.names, l.name)
	}
}

// takeUp has a plugin that is back told what it has missed. The locks of the engine and of
// the lane are held.
func (l *lane) takeUp(s *session, told Snapshot, former ledger) {
	o := l.engine.opts.Owed
	wants := endsOf(s.wants)
	l.wants, l.safe = s.wants, false
	switch {
	case len(wants) > 0:
		l.kept = true
		o.Joined(l.name, wants)
		if l.gone {
			l.missGone(told)
		}
	case l.kept:
		l.kept, l.gone, l.line.missed = false, false, nil
		o.Forget(l.name)
	}
	if s.after == nil {
		l.missedParts(s, told, former)
	}
	for _, waits := range l.line.entries {
		if waits.part != nil && waits.part.late {
			l.keep(waits.part) // for which nobody waits
		}
	}
}

// missedParts takes what is stored of what a plugin has missed. Of what it
// was just told to be there the end is still to come, and will be told then; but for
// a pod that has stopped, whose Stop does not come again. That has none that is stored if
// the runtime was killed before it was. l.mu is held.
func (l *lane) missedParts(s *session, told Snapshot, former ledger) {
	there := told.index()
	stops := make(map[string]bool) // pods whose Stop is stored
	last := make(map[string]*part) // of pods, what is told of them last
	for _, due := range slices.Collect(l.engine.opts.Owed.Owes(l.name)) {
		ev := eventOf(due)
		o, listed := there[ev.object()]
		toCome := listed && (ev.Kind != StopPodSandbox || !o.Stopped)
		if toCome || !ev.Kind.final() || !s.subscribed(ev.Kind) {
			l.pays(ev)
			continue
		}
		stops[ev.Pod] = stops[ev.Pod] || ev.Kind == StopPodSandbox
		last[ev.Pod] = l.miss(ev, due.Request)
	}
	for id, pod := range l.ledger.pods {
		end := Event{Kind: RemovePodSandbox, Pod: id}
		_, listed := there[end.object()]
		switch p := last[id]; {
		case !pod.removed:
		case p == nil && listed: // the plugin wanted no end of it
			l.line.push(entry{note: end})
		case p == nil: // nor was it told of it now
			l.ledger.told(end)
		default:
			p.round.events = append(p.round.events, end)
		}
	}
	for _, o := range told.Pods {
		if o.Stopped && !stops[o.Pod] && former.goesOn(o.object()) {
			ev := Event{Kind: StopPodSandbox, Pod: o.Pod}
			ev.Request = l.engine.opts.ImpliedEnd(ev.Kind, "", Event{Pod: o.Pod, Request: o.Value})
			l.keep(l.miss(ev, ""))
		}
	}
	l.line.until = time.Now().Add(l.engine.opts.SyncTimeout())
}

// miss puts an end at the head of the line.
func (l *lane) miss(ev Event, stored string) *part {
	p := l.ownPart(ev)
	p.missed, p.stored = true, stored
	l.line.missed = append(l.line.missed, p)
	l.owing = true
	return p
}

// keep stores the ends that a part has still to tell. The part may tell them yet, and no
// caller waits for that. l.mu is held, so that ends are stored in the order in which the
// ledger has them.
func (l *lane) keep(p *part) {
	if !l.kept {
		return
	}
	if l.session == nil || !l.session.joined {
		l.ledger.remove(p.round.events)
	}
	o := &l.engine.opts
	l.rest(p, l.wants, func(ev Event) {
		if !l.safe || ev.Kind.removal() {
			p.round.owes.Store(true)
		}
		l.owing = true
		if !o.Owed.Owe(l.name, ev.Kind.String(), [2]string{ev.Pod, ev.Container}, o.Encode(ev)) {
			l.kept = false // the name was forgotten
			if l.session == nil {
				l.ledger = newLedger()
			}
		}
	})
}

// heard enters an end that was answered. l.mu is held.
func (l *lane) heard(ev Event) {
	if !ev.Kind.final() {
		return
	}
	l.ledger.told(ev)
	if l.owing {
		l.owing = l.pays(ev) > 0
	}
}

// pays notes that an end is missed no more, and returns how many the plugin still misses.
func (l *lane) pays(ev Event) (left int) {
	return l.engine.opts.Owed.Paid(l.name, ev.Kind.String(), [2]string{ev.Pod, ev.Container})
}

// tellings is how many connections of a name in a row may be lost at one missed end. Then
// it is not sent any more: a plugin that breaks at it, whenever it is told, serves the rest (L22).
const tellings = 3

// breaks counts the connections of a name that were lost at an end that it had missed.
type breaks struct {
	at Event
	in int // a row
}

// again notes that a connection was lost at a missed end, and says whether that
// is not sent any more.
func (b *breaks) again(ev Event) bool {
	if !ev.same(&b.at) {
		*b = breaks{at: Event{Kind: ev.Kind, Pod: ev.Pod, Container: ev.Container}}
	}
	b.in++
	return b.in >= tellings
}

// Forget drops what is kept of a plugin that is away, so that nothing is kept for it
// any more. It returns how many ends it has missed, and false if it is not away.
func (e *Engine) Forget(name string) (dropped int, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.names[name]
	if l == nil {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.session; !l.kept || s != nil && (s.joined || s.after != nil) {
		return 0, false // a successor is told of what the first knew
	}
	l.kept, l.ledger = false, newLedger()
	if l.session == nil {
		e.remove(l)
	}
	delete(e.absent, name)
	return e.opts.Owed.Forget(name), true
}
