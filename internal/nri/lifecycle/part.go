// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A part is the work of a Teardown in one lane, or one end that the plugin has missed. The
// lane's lock guards the fields that change.
type part struct {
	round  *round
	lane   *lane
	posted time.Time
	missed bool   // whether it is an end that the plugin has missed (L18)
	stored string // the stored Request of that end, if the event has none
	urgent bool   // whether its stored ends must be safe before the runtime goes on

	again   bool          // a connection was lost at it
	next    int           // the index of the next event of the round
	over    bool          // all events are done
	late    bool          // no caller waits for it any more
	passed  error         // why no caller must wait for it: the plugin is overdue
	owner   bool          // the caller of its own round waits for it
	settled chan struct{} // closed when it is over, or no caller must wait for it; nil if none waits
	answers []answer      // for the caller of its round, once that no longer waits
	errs    []error
}

type answer struct {
	conn  Connection
	event Event
	reply any
}

// fail adds the failure of an event to the error of the caller, if the policy says so.
func (p *part) fail(s *session, ev Event, f Failure, err error) {
	if fail, _ := s.policy.Decide(ev.Kind, f); fail {
		p.errs = append(p.errs, &Error{s.conn, ev, f, err})
	}
}

// take keeps a reply for the caller of its round, if that caller waits and wants replies.
func (p *part) take(r *request) bool {
	if !p.owner || !p.round.collect || r.expired {
		return false
	}
	p.answers = append(p.answers, answer{r.session.conn, r.event, r.reply})
	return true
}

// release releases the callers that wait.
func (p *part) release() {
	if p.settled != nil {
		close(p.settled)
		p.settled = nil
	}
}

// end marks the part as over, and releases the callers that wait.
func (p *part) end() {
	p.over = true
	p.release()
}

// unsettled returns a channel that is closed when no caller must wait for the part, nil if that
// is so already.
func (p *part) unsettled() <-chan struct{} {
	l := p.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.over || p.passed != nil {
		return nil
	}
	if p.settled == nil {
		p.settled = make(chan struct{})
	}
	return p.settled
}

// leave ends the wait of a caller, and returns the errors so far.
func (p *part) leave(r *round, waited time.Duration) []error {
	l := p.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.round == r {
		p.owner = false
	}
	defer func() { r.urgent = r.urgent || p.urgent }() // also if it is the part of another round
	if p.over {
		return p.errs
	}
	p.late = true
	l.keep(p)
	if l.session == nil {
		return p.errs
	}
	failure, err := Skip, p.passed
	if err == nil {
		failure, err = Timeout, fmt.Errorf("no answer within %s: %w", waited, context.DeadlineExceeded)
	}
	until := part{errs: slices.Clone(p.errs)} // other callers may still wait for p
	until.fail(l.session, *p.round.last(), failure, err)
	return until.errs
}

// pass releases the callers of a part whose plugin is overdue.
func (p *part) pass(why error) {
	p.passed = fmt.Errorf("it receives the event later: %w", why)
	p.release()
}

// post puts a round in the lane, and returns the part to wait for: nil if the plugin receives
// none of its events, or no caller can wait for it.
func (l *lane) post(r *round) *part {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.session
	if s == nil {
		p := l.newPart(r)
		l.keep(p)
		r.urgent = r.urgent || p.urgent
		return nil
	}
	l.collapse(r.events)
	if !l.held && !l.paused() {
		return l.start(r)
	}
	p := l.pending(r)
	if p == nil {
		p = l.newPart(r)
		full := l.push(entry{part: p, weight: l.engine.weigh(r.events)})
		if full != nil {
			return l.overflow(r, full)
		}
	}
	p.late = l.overdue() || l.session != nil && !l.session.joined
	if p.late {
		p.owner = false
		l.keep(p)
		r.urgent = r.urgent || p.urgent
		return nil
	}
	p.passed = nil // this caller waits
	wants := s.wants
	if l.next != nil {
		wants |= l.next.wants
	}
	if !l.mayBring(p, wants) {
		p.owner = false
		return nil
	}
	return p
}

// overflow drops a plugin whose line is full. l.mu is held, and released in between.
func (l *lane) overflow(r *round, full error) *part {
	s := l.session
	l.mu.Unlock()
	l.engine.drop(s, full)
	l.mu.Lock()
	if l.session != nil {
		l.mu.Unlock()
		defer l.mu.Lock()
		return l.post(r) // for the successor
	}
	p := l.newPart(r)
	lost := l.lose(p, s, nil)
	l.mu.Unlock()
	l.engine.record(lost)
	l.mu.Lock()
	return p
}

func (l *lane) newPart(r *round) *part {
	return &part{lane: l, round: r, posted: time.Now(), owner: true}
}

// ownPart returns a part for ends that the engine itself delivers: no caller waits for it.
func (l *lane) ownPart(ends ...Event) *part {
	p := l.newPart(&round{ctx: l.engine.ctx, events: ends})
	p.late, p.owner = true, false
	return p
}

func (e *Engine) weigh(events []Event) (weight int) {
	for _, ev := range events {
		weight += e.opts.Weigh(ev)
	}
	return weight
}

// mayBring reports whether a round may send anything to a plugin that has these subscriptions. If
// not, it only changes the ledger, in its turn.
func (r *round) mayBring(wants ledger.Kinds) bool {
	return slices.ContainsFunc(r.events, func(ev Event) bool { return wants&ev.Kind.Brings() != 0 })
}

// mayBring reports whether a part in the line may send anything to a plugin. If not, no caller waits
// for it (L14). l.mu is held.
func (l *lane) mayBring(p *part, wants ledger.Kinds) (may bool) {
	if !p.round.mayBring(wants) {
		return false
	}
	events := p.round.events[p.next:]
	if l.next != nil || l.line.begins(events) {
		return true // the ledger does not have what the successor knows, or what waits in the line
	}
	left := l.ledger.CopyOf(events)
	for _, goal := range events {
		left.Complete(goal, func(ev Event) { may = may || wants.Has(ev.Kind) })
	}
	return may
}

// needs reports whether the plugin must still receive an event of a round. A round that it does
// not want only changes the ledger. l.mu is held.
func (l *lane) needs(r *round) bool {
	if !r.mayBring(l.session.wants) {
		l.ledger.Pass(r.events)
		return false
	}
	return slices.ContainsFunc(r.events, l.ledger.Lacks)
}

// start takes the turn of an idle lane for a round, if the plugin must receive any of its
// events. l.mu is held, and released in between.
func (l *lane) start(r *round) *part {
	if !l.needs(r) {
		return nil
	}
	p := l.newPart(r)
	l.held = true
	l.goOn(p)
	return p
}

// pending returns the part in the lane that has the same last event as the round, if that event
// covers the whole round. So a second stop of a pod waits for the first, and the retries of a
// kubelet do not fill the line of a plugin that hangs. l.mu is held.
func (l *lane) pending(r *round) *part {
	last := r.last()
	for i := range r.events {
		if !last.Covers(&r.events[i]) {
			return nil
		}
	}
	for _, e := range slices.Backward(l.line.entries) {
		switch {
		case e.part != nil && e.part.round.last().Same(last):
			return e.part
		case e.late != nil && e.late.EndsWith(*last):
			return nil // parts before it ended an earlier object of the same id
		}
	}
	if c := l.current; c != nil && c.part != nil && !c.part.missed && c.part.round.last().Same(last) {
		return c.part
	}
	return nil
}

// nextEnd returns the next event of a part that the plugin must receive and has subscribed to.
// l.mu is held.
func (l *lane) nextEnd(p *part) (Event, bool) {
	for p.next < len(p.round.events) {
		goal := p.round.events[p.next]
		ev, ok := l.ledger.Next(goal)
		switch {
		case !ok:
			p.next++
		case !l.session.subscribed(ev.Kind):
			l.answered(ev)
		default:
			return ev, true
		}
	}
	return Event{}, false
}

// advance continues a part, and reports whether the caller has lost the turn: to a request
// that is not answered yet, or because the session has left. The caller holds the turn and
// l.mu; l.mu is released in between.
func (l *lane) advance(p *part) (gone bool) {
	for {
		if l.paused() {
			l.putBack(p)
			return false
		}
		ev, ok := l.nextEnd(p)
		if !ok {
			if p.missed {
				l.answered(p.round.events[0]) // the plugin has received it in another part
			}
			p.end()
			return false
		}
		r := &request{Context: p.round.ctx, event: l.withRequest(p, ev), part: p, posted: p.posted}
		if !l.transmit(r) || !l.conclude(r) {
			return true
		}
	}
}

// withRequest returns an event of a part with its request. l.mu is held.
func (l *lane) withRequest(p *part, ev Event) Event {
	goal := &p.round.events[p.next]
	if goal.Request == nil && p.missed {
		first := &p.round.events[0]
		if first.Request == nil {
			first.Request, p.stored = l.engine.opts.Decode(*first, p.stored), ""
		}
		if p.next > 0 { // it is not stored, see lane.miss
			goal.Request = l.engine.opts.ImpliedEnd(goal.Kind, goal.Container, *first)
		}
	}
	if ev.Same(goal) {
		return *goal
	}
	return l.engine.implied(p.round, ev, *goal)
}

// rest calls do for each event that a part has not delivered yet, in order, if it is of a wanted
// kind. It does not change the ledger. l.mu is held.
func (l *lane) rest(p *part, wants ledger.Kinds, do func(Event)) {
	left := l.ledger.CopyOf(p.round.events[p.next:])
	next := p.next
	defer func() { p.next = next }()
	for ; p.next < len(p.round.events); p.next++ {
		left.Complete(p.round.events[p.next], func(ev Event) {
			if wants.Has(ev.Kind) {
				do(l.withRequest(p, ev))
			}
		})
	}
}

// lose ends a part whose plugin has gone, and stores the ends that it has not delivered. It
// returns a delivery to report for each of them except sent, whose request reports itself. l.mu
// is held.
func (l *lane) lose(p *part, s *session, sent *request) (lost []Delivery) {
	if !p.missed { // else it is stored, and was reported before
		l.keep(p)
		l.rest(p, s.wants, func(ev Event) {
			if sent != nil && ev.Same(&sent.event) {
				return
			}
			p.fail(s, ev, Loss, ErrClosed)
			lost = append(lost, Delivery{Context: p.round.ctx, Conn: s.conn, Event: ev, Outcome: Lost,
				Waited: time.Since(p.posted), Late: p.late, Err: ErrClosed})
		})
	}
	p.end()
	return lost
}

// record reports deliveries to the observer.
func (e *Engine) record(all []Delivery) {
	for _, d := range all {
		e.opts.Observer.Delivered(d)
	}
}
