// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/catchup"
	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// What a plugin misses while it is disconnected (L18). Its lane stays, with its ledger and its record
// (package away), and has no session. Ends that are handed in are noted in the record, and do
// not change the ledger: they are still to be told. When the plugin is back, they are parts of
// a teardown at the head of its line, and the ledger says of each, as of any other, whether it
// is to be told. After a restart a lane is made of what was stored.

// Missed keeps what plugins miss, and outlives the engine.
type MissedEvents = catchup.Store

// makeSafe sees to it that a restart finds a plugin away that has left, with what it knows.
func (e *Engine) makeSafe(s *session) {
	if e.records == nil || s.lane == nil {
		return
	}
	e.records.Store.Sync()
	l := s.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		l.record.Safe()
	}
}

// vacate sees to a lane whose plugin has left, and that has no successor. mu and l.mu are
// held.
func (e *Engine) vacate(l *lane) {
	if l.record == nil {
		e.remove(l)
		return
	}
	l.record.Left(l.ledger)
	stored := maps.Collect(e.records.Store.Names())
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
func (l *lane) takeUp(s *session, received Snapshot, former *ledger.Ledger) {
	before := l.record
	l.record = l.engine.records.Joined(before, l.name, s.wants)
	if before != nil && l.record == nil {
		for _, p := range l.line.missed {
			l.ledger.Pass(p.round.events)
		}
		l.line.missed = nil // it wants no ends any more
	}
	l.record.MissGone(l.ledger, received)
	if s.after == nil {
		for _, m := range l.record.Missed(received, l.ledger, former) {
			l.miss(m)
		}
		l.line.until = time.Now().Add(l.engine.opts.SyncTimeout())
	}
	for _, waits := range l.line.entries {
		if waits.part != nil && waits.part.late {
			l.keep(waits.part) // for which nobody waits
		}
	}
}

// miss puts a missed end at the head of the line. l.mu is held.
func (l *lane) miss(m catchup.Missed) {
	p := l.ownPart(m.End)
	p.missed, p.stored = true, m.Stored
	if m.Unkept {
		l.keep(p)
	}
	if m.Last {
		p.round.events = append(p.round.events, ledger.ID{Pod: m.End.Pod}.Removal())
	}
	l.line.missed = append(l.line.missed, p)
}

// keep stores the ends that a part has still to tell. The part may tell them yet, and no
// caller waits for that. l.mu is held, so that ends are stored in the order in which the
// ledger has them.
func (l *lane) keep(p *part) {
	if l.record == nil {
		return
	}
	if l.session == nil || !l.session.joined {
		l.ledger.MarkRemoved(p.round.events)
	}
	record := l.record
	l.rest(p, record.Wants(), func(ev Event) {
		urgent, kept := record.Miss(ev)
		if urgent {
			p.urgent = true
		}
		if !kept {
			l.forget()
		}
	})
}

// forget keeps nothing more for the name, and nothing of it if the plugin is disconnected. l.mu is
// held.
func (l *lane) forget() {
	l.record = nil
	if l.session == nil {
		l.ledger = ledger.New()
	}
}

// heard enters an end that was answered. l.mu is held.
func (l *lane) heard(ev Event) {
	if ev.Kind.Final() {
		l.ledger.Delivered(ev)
		l.record.Heard(ev)
	}
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
	if !ev.Same(&b.at) {
		*b = breaks{at: Event{Kind: ev.Kind, Pod: ev.Pod, Container: ev.Container}}
	}
	b.in++
	return b.in >= tellings
}

// Forget drops what is kept of a plugin that is disconnected, so that nothing is kept for it
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
	if s := l.session; l.record == nil || s != nil && (s.joined || s.after != nil) {
		return 0, false // a successor is told of what the first knew
	}
	dropped = l.record.Forget()
	l.record, l.ledger = nil, ledger.New()
	if l.session == nil {
		e.remove(l)
	}
	delete(e.absent, name)
	return dropped, true
}
