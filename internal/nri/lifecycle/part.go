// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"
)

// A part is what a Teardown has to do in one lane. What changes of it is guarded
// by the lane's lock.
type part struct {
	round  *round
	place  // the lane
	posted time.Time

	next    int           // the event of the round that is being seen to
	over    bool          // all were
	late    bool          // nobody waits for it any more
	owner   bool          // the caller of its own round does
	settled chan struct{} // closed when it is over, or not to be waited for; nil if nobody waits
	answers []answer      // for the owner, once it has left
	errs    []error
}

type answer struct {
	conn  Connection
	event Event
	reply any
}

// fail keeps what became of an event.
func (p *part) fail(ev Event, err error) {
	p.errs = append(p.errs, fmt.Errorf("%s: plugin %s: %w", ev, p.at.Load().name, err))
}

// take keeps a reply for the owner, if that is there and wants it.
func (p *part) take(r *request) bool {
	if !p.owner || !p.round.collect || r.expired {
		return false
	}
	p.answers = append(p.answers, answer{r.lane.conn, r.event, r.reply})
	return true
}

// release lets go of those who wait.
func (p *part) release() {
	if p.settled != nil {
		close(p.settled)
		p.settled = nil
	}
}

// unsettled returns a channel that is closed when the part need not be waited
// for any more, nil if that is so.
func (p *part) unsettled() <-chan struct{} {
	l := p.lock()
	defer l.mu.Unlock()
	if p.over || l.overdue() {
		return nil
	}
	if p.settled == nil {
		p.settled = make(chan struct{})
	}
	return p.settled
}

// leave is for a caller who has waited, and returns what went wrong.
func (p *part) leave(r *round, waited time.Duration) []error {
	l := p.lock()
	defer l.mu.Unlock()
	if p.round == r {
		p.owner = false
	}
	if p.over {
		return p.errs
	}
	p.late = true
	l.oweRest(p)
	if l.overdue() {
		return append(p.errs[:len(p.errs):len(p.errs)], fmt.Errorf("%s: plugin %s is told later: %w", p.round.last(), l.name, l.debt()))
	}
	return append(p.errs[:len(p.errs):len(p.errs)], fmt.Errorf("%s: plugin %s has not answered within %s", p.round.last(), l.name, waited))
}

// post puts a round in the lane, and returns the part to wait for: nil if the
// connection is told nothing of it, or cannot be waited for.
func (l *lane) post(r *round) *part {
	l.mu.Lock()
	defer l.mu.Unlock()
	if heir := l.heir; heir != nil {
		// The round was handed in before that one came.
		l.mu.Unlock()
		defer l.mu.Lock()
		return heir.post(r)
	}
	if l.closed != nil {
		l.oweAll(r)
		return nil
	}
	l.collapse(r.events)
	if !l.held {
		return l.start(r)
	}
	p := l.pending(r)
	if p == nil {
		p = l.newPart(r)
		weight := 0
		for _, ev := range r.events {
			weight += l.engine.opts.Weigh(ev)
		}
		if full := l.push(entry{part: p, weight: weight}); full != nil {
			l.mu.Unlock()
			l.engine.drop(l, full)
			l.mu.Lock()
			l.advance(p)
		}
	}
	p.late = l.overdue() || !l.joined
	if l.overdue() {
		l.oweRest(p)
	}
	if p.late || !l.cares(r) {
		p.owner = p.owner && !p.late
		return nil
	}
	return p
}

func (l *lane) newPart(r *round) *part {
	p := &part{round: r, posted: time.Now(), owner: true}
	p.at.Store(l)
	return p
}

// mayBring are the kinds, as bits, that the end of an object may bring a
// connection: its own, and those that the ledger finds missing before it.
var mayBring = [kinds]uint32{
	StopContainer:    1 << StopContainer,
	RemoveContainer:  1<<StopContainer | 1<<RemoveContainer,
	StopPodSandbox:   1<<StopContainer | 1<<StopPodSandbox,
	RemovePodSandbox: 1<<StopContainer | 1<<RemoveContainer | 1<<StopPodSandbox | 1<<RemovePodSandbox,
}

// cares says whether a round may send anything in the lane. If not it only
// changes the ledger, in its turn, and nobody waits for that (L14).
func (l *lane) cares(r *round) bool {
	for _, ev := range r.events {
		if l.wants&mayBring[ev.Kind] != 0 {
			return true
		}
	}
	return false
}

// start takes the turn of an idle lane for a round, if the connection is to be
// told any of it. l.mu is held, though not throughout.
func (l *lane) start(r *round) *part {
	var next int
	ev, ok := l.nextEnd(r, &next)
	if !ok {
		return nil
	}
	p := l.newPart(r)
	p.next = next
	l.held = true
	if !l.tell(p, ev) && !l.advance(p) {
		l.passOn()
	}
	return p
}

// pending returns the part in the lane whose last event is that of the round,
// if that event stands for the whole round. So a second stop of a pod waits for
// the first, and the many tries of a kubelet do not fill the line of a plugin
// that hangs. l.mu is held.
func (l *lane) pending(r *round) *part {
	last := r.last()
	for i := range r.events {
		if !last.covers(&r.events[i]) {
			return nil
		}
	}
	if c := l.current; c != nil && c.part != nil && c.part.round.last().same(last) {
		return c.part
	}
	for _, e := range l.line {
		if e.part != nil && e.part.round.last().same(last) {
			return e.part
		}
	}
	return nil
}

// nextEnd returns the next event of a round that the connection has to be told
// and has subscribed to, and enters it in the ledger. l.mu is held.
func (l *lane) nextEnd(r *round, next *int) (Event, bool) {
	for *next < len(r.events) {
		goal := r.events[*next]
		kind, container, ok := l.ledger.step(goal)
		switch {
		case !ok:
			*next++
		case !l.subscribed(kind):
			l.unsubscribed(kind, goal.Pod, container)
		case kind == goal.Kind && container == goal.Container:
			return goal, true
		default:
			return Event{Kind: kind, Pod: goal.Pod, Container: container}, true
		}
	}
	return Event{}, false
}

// same says whether two events tell the same of the same.
func (e *Event) same(o *Event) bool {
	return e.Kind == o.Kind && e.Pod == o.Pod && e.Container == o.Container
}

// advance goes on with a part, and says whether an event of it was sent that is
// not answered yet. In a closed lane nothing is sent any more, but what the
// connection was to be told is accounted for. The caller holds the turn, and
// l.mu, though that not throughout.
func (l *lane) advance(p *part) (sent bool) {
	for {
		if l.heir != nil {
			l.handOn(p)
			return false
		}
		ev, ok := l.nextEnd(p.round, &p.next)
		if !ok {
			p.over = true
			p.release()
			return false
		}
		if l.tell(p, ev) {
			return true
		}
	}
}

// handOn has the connection that has taken over be told what a part has not told. l.mu
// is held, though not throughout.
func (l *lane) handOn(p *part) {
	rest := &round{ctx: p.round.ctx, events: p.round.events, orphans: p.round.orphans}
	heir := l.heir
	l.mu.Unlock()
	heir.post(rest) // of which it tells what it knows
	l.mu.Lock()
	if rest.owes.Load() {
		p.round.owes.Store(true)
	}
	p.over = true
	p.release()
}

// tell sends an event of a part that the ledger has entered, and says whether
// it is not answered yet. As advance.
func (l *lane) tell(p *part, ev Event) (sent bool) {
	if l.closed != nil {
		l.lose(p, ev)
		return false
	}
	if goal := &p.round.events[p.next]; !ev.same(goal) {
		l.work.Add(1)
		l.mu.Unlock()
		ev = l.engine.implied(p.round, ev, *goal)
		l.mu.Lock()
		defer l.work.Done()
		if l.closed != nil {
			l.lose(p, ev)
			return false
		}
	}
	r := &request{Context: p.round.ctx, lane: l, event: ev, part: p, posted: p.posted}
	if !l.transmit(r) {
		return true
	}
	l.conclude(r)
	return false
}

// lose accounts for an event of a part that the closed connection was to be
// told. l.mu is held, though not throughout.
func (l *lane) lose(p *part, ev Event) {
	l.owe(p.round, ev, &p.round.events[p.next])
	p.fail(ev, ErrClosed)
	rec := Delivery{Context: p.round.ctx, Conn: l.conn, Event: ev, Outcome: Lost, Waited: time.Since(p.posted), Late: p.late, Err: ErrClosed}
	l.mu.Unlock()
	l.engine.opts.Observer.Delivered(rec)
	l.mu.Lock()
}
