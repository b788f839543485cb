// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"sync/atomic"
	"time"
)

// A part is what a Teardown has to do in one lane.
type part struct {
	round  *round
	lane   *lane
	posted time.Time
	next   int           // the event of the round that is being seen to
	done   chan struct{} // closed when all were
	late   atomic.Bool   // nobody waits for it any more

	// Written before done is closed, read after.
	answers []answer
	errs    []error
}

type answer struct {
	event Event
	reply any
}

func newPart(r *round, l *lane) *part {
	return &part{round: r, lane: l, posted: time.Now(), done: make(chan struct{})}
}

// add keeps what became of an event.
func (p *part) add(ev Event, reply any, err error) {
	switch {
	case err != nil:
		p.errs = append(p.errs, fmt.Errorf("%s: plugin %s: %w", ev, p.lane.name, err))
	case reply != nil && p.round.collect:
		p.answers = append(p.answers, answer{ev, reply})
	}
}

func (p *part) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// post puts a round in the lane, and returns the part to wait for: nil if the
// connection is owed nothing of it.
func (l *lane) post(r *round) *part {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed != nil:
		return nil
	case !l.held:
		return l.start(r)
	}
	p := l.pending(r)
	switch {
	case p != nil:
		p.late.Store(false)
	case l.full():
		p = newPart(r, l)
		l.mu.Unlock()
		l.engine.drop(l, ErrBacklog)
		l.mu.Lock()
		l.run(p)
	default:
		p = newPart(r, l)
		l.line = append(l.line, entry{part: p})
	}
	if !l.cares(r) {
		return nil
	}
	return p
}

// owing are the kinds, as bits, that the end of an object may bring a
// connection: its own, and those that the ledger finds missing before it.
var owing = [kinds]uint32{
	StopContainer:    1 << StopContainer,
	RemoveContainer:  1<<StopContainer | 1<<RemoveContainer,
	StopPodSandbox:   1<<StopContainer | 1<<StopPodSandbox,
	RemovePodSandbox: 1<<StopContainer | 1<<RemoveContainer | 1<<StopPodSandbox | 1<<RemovePodSandbox,
}

// cares says whether a round may send anything in the lane. If not it only
// changes the ledger, in its turn, and nobody waits for that (L14).
func (l *lane) cares(r *round) bool {
	for _, ev := range r.events {
		if l.wants&owing[ev.Kind] != 0 {
			return true
		}
	}
	return false
}

// start takes the turn of an idle lane for a round, if the connection is owed
// any of it. l.mu is held.
func (l *lane) start(r *round) *part {
	var next int
	ev, ok := l.due(r, &next)
	if !ok {
		return nil
	}
	p := newPart(r, l)
	p.next = next
	d := l.begin(r.ctx, ev)
	l.held, l.draining = true, p
	l.work.Add(1)
	go func() {
		l.tell(p, d, ev)
		l.drain(p)
	}()
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
	if p := l.draining; p != nil && p.round.last().same(last) {
		return p
	}
	for _, e := range l.line {
		if e.part != nil && e.part.round.last().same(last) {
			return e.part
		}
	}
	return nil
}

// due returns the next event of a round that the connection is owed and has
// subscribed to, and enters it in the ledger. l.mu is held.
func (l *lane) due(r *round, next *int) (Event, bool) {
	for *next < len(r.events) {
		goal := r.events[*next]
		kind, container, ok := l.ledger.step(goal)
		switch {
		case !ok:
			*next++
		case !l.subscribed(kind):
		case kind == goal.Kind && container == goal.Container:
			return goal, true
		default:
			return Event{Kind: kind, Pod: goal.Pod, Container: container}, true
		}
	}
	return Event{}, false
}

// drain works through a part, and those that come next in line, until the turn
// goes to a caller or to nobody. l.mu is held, and released in the end.
func (l *lane) drain(p *part) {
	defer l.work.Done()
	defer l.mu.Unlock()
	for ; p != nil; p = l.next() {
		l.run(p)
	}
}

// run works through a part. In a closed lane nothing is sent any more, but
// what the connection was owed is accounted for. l.mu is held, though not
// throughout.
func (l *lane) run(p *part) {
	for {
		ev, ok := l.due(p.round, &p.next)
		if !ok {
			close(p.done)
			return
		}
		if l.closed != nil {
			l.mu.Unlock()
			l.lose(p, ev)
			l.mu.Lock()
			continue
		}
		d := l.begin(p.round.ctx, ev)
		l.mu.Unlock()
		l.tell(p, d, ev)
	}
}

// tell delivers an event of a part that begin entered, and returns with l.mu
// held.
func (l *lane) tell(p *part, d *deadline, ev Event) {
	if goal := &p.round.events[p.next]; !ev.same(goal) {
		ev = l.engine.owed(p.round, ev, *goal)
	}
	reply, err, _ := l.deliver(d, ev, l.started.Sub(p.posted), &p.late)
	p.add(ev, reply, err)
}

// lose accounts for an event of a part that the closed connection was owed.
func (l *lane) lose(p *part, ev Event) {
	p.add(ev, nil, ErrClosed)
	l.engine.opts.Observer.Delivered(Delivery{
		Conn:    l.conn,
		Event:   ev,
		Outcome: Lost,
		Waited:  time.Since(p.posted),
		Late:    p.late.Load(),
		Err:     ErrClosed,
	})
}
