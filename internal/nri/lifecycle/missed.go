// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/catchup"
	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// What a plugin misses while it is disconnected (L18). Its lane stays, with its ledger and its
// record (package catchup), and without a session. Submitted ends are stored in the record, and
// do not change the ledger, because they must still be delivered. When the plugin is back, they
// are parts at the head of its line, and the ledger decides, as for any part, whether to
// send them. After a restart Recall makes the lane from the record.

// MissedEvents keeps what plugins miss, and outlives the engine.
type MissedEvents = catchup.Store

// makeSafe syncs the record of a plugin that has left, so that a restart finds it.
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

// vacate keeps or removes the lane of a plugin that has left without a successor. mu and l.mu are
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
			e.remove(o) // the store has forgotten it
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

// takeUp puts the ends that a plugin has missed into its line when it is back. The locks of the
// engine and of the lane are held.
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
			l.keep(waits.part) // no caller waits for it
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

// keep stores the ends that a part has not delivered yet. The part may still deliver them,
// but no caller waits for that. l.mu is held, so that ends are stored in the order of the
// ledger.
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

// forget drops the record, and also the ledger if the plugin is disconnected. l.mu is held.
func (l *lane) forget() {
	l.record = nil
	if l.session == nil {
		l.ledger = ledger.New()
	}
}

// answered records an end that was answered. l.mu is held.
func (l *lane) answered(ev Event) {
	if ev.Kind.Final() {
		l.ledger.Delivered(ev)
		l.record.Heard(ev)
	}
}

// maxLosses is how many connections of a name in a row may be lost at one missed end. Then the
// end is dropped, so that a plugin that always breaks at it receives the rest (L22).
const maxLosses = 3

// breaks counts the connections of a name in a row that were lost at a missed end.
type breaks struct {
	at Event
	in int // how many
}

// again counts a connection that was lost at a missed end, and reports whether the end must be
// dropped.
func (b *breaks) again(ev Event) bool {
	if !ev.Same(&b.at) {
		*b = breaks{at: Event{Kind: ev.Kind, Pod: ev.Pod, Container: ev.Container}}
	}
	b.in++
	return b.in >= maxLosses
}

// Forget drops all that is kept for a disconnected plugin, and keeps nothing more for it. It
// returns how many missed ends it dropped, and false if the plugin is not disconnected.
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
		return 0, false // a successor receives the ends of what the first knew
	}
	dropped = l.record.Forget()
	l.record, l.ledger = nil, ledger.New()
	if l.session == nil {
		e.remove(l)
	}
	delete(e.absent, name)
	return dropped, true
}
