// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Ask tells the connections of an event that each of them may refuse, one
// after the other in the order of their indices, and returns the first
// failure. It is for all events but the ends, which have Teardown.
//
// each, if not nil, is called after each connection with its reply, before the
// next one is asked, and may change the event's Request; an error of it is
// a failure too. The reply is nil for one that did not subscribe, or knows
// nothing of the pod or container; each is not called for one that failed and
// whose policy is to go on without it.
//
// A first event, of kind RunPodSandbox or CreateContainer, reaches every
// connection whose list was taken before Ask returned nil: in time or, if the
// connection is overdue, was not synchronized within one SyncTimeout or came in
// under a name that had been asked, late. One that is listed for afterwards finds
// the pod or container in its Synchronize. If Ask fails, the caller ends what was
// begun with Teardown, whose events reach those that were told.
//
// What begins, a pod, a container or its start, is refused with ErrStopped if its
// end, or that of its pod, was handed in before Ask returned.
//
// What Options.Required names has to answer a first event, whatever its policy:
// an Unmet error says which plugin has not. Of a caller with a deadline, a first
// event leaves time for that Teardown.
//
// A plugin gets the request timeout for its answer, counted from when the
// event was sent. Ask returns when ctx ends, but the plugin then still owes its
// answer, and is sent nothing else before it.
func (e *Engine) Ask(ctx context.Context, ev Event, each func(Connection, any) error) error {
	switch {
	case ev.Kind.final() || ev.Kind == Synchronize || ev.Kind == 0:
		return fmt.Errorf("%s is not an event to ask for", ev)
	case ev.Kind.first():
		return e.create(ctx, ev, each)
	case ev.Kind == PostCreateContainer:
		e.listed(ev)
	}
	q := question{engine: e, ctx: ctx, event: ev, each: each}
	for _, l := range e.asked() {
		if err := q.ask(l); err != nil {
			return err
		}
	}
	return q.refuseEnded() // it may have ended while the last was asked
}

// A question is one call of Ask.
type question struct {
	engine   *Engine
	ctx      context.Context
	event    Event
	each     func(Connection, any) error
	creation *creation // that a first event belongs to, else nil
	until    time.Time // when it stops to wait for connections that join
}

// patience is until when the question waits for connections that join: one
// SyncTimeout, in all, from when it first did.
func (q *question) patience() time.Time {
	if q.until.IsZero() {
		q.until = time.Now().Add(q.engine.opts.SyncTimeout())
	}
	return q.until
}

// refuseEnded refuses what begins after its end, or that of its pod, was handed in
// (L11): its connections were told so, or will be. There is no use in waiting for
// their turn.
func (q *question) refuseEnded() error {
	var ended bool
	switch {
	case q.creation != nil:
		ended = q.creation.undone()
	case q.event.Kind == StartContainer:
		ended = q.engine.hasEnded(q.event.object())
	}
	if ended {
		return fmt.Errorf("%s: %w", q.event, ErrStopped)
	}
	return nil
}

// ask asks one connection in its turn, or its successor.
func (q *question) ask(l *lane) error {
	if err := q.refuseEnded(); err != nil {
		return err
	}
	l = l.latest()
	var reply any
	var err error
	switch {
	case !l.subscribed(q.event.Kind):
		err = l.note(q.event, q.creation)
	case q.creation.askedBefore(l) && !q.demanded(l):
		err = q.unsent(l, time.Time{}, errReturned)
	default:
		q.creation.waitFor(l)
		l, reply, err = q.send(l)
		q.creation.waitFor(nil)
		q.creation.told(l, err)
	}
	if errors.Is(err, errMoved) {
		return q.ask(l)
	}
	if q.demanded(l) {
		err = q.heed(l, err)
	}
	switch {
	case q.creation != nil && unheard(err) && l.latest() != l:
		return q.ask(l) // of the successor of one that will not answer any more
	case (err == nil || errors.Is(err, errKnown)) && q.each != nil:
		return q.each(l.conn, reply)
	case err == nil || errors.Is(err, errKnown) || errors.Is(err, errAbsent) || errors.Is(err, errWithout):
		return nil
	case errors.Is(err, ErrStopped):
		return fmt.Errorf("%s: %w", q.event, err)
	}
	return err
}

var (
	// errWithout says that a plugin failed, and that its policy is to go on.
	errWithout = errors.New("going on without the plugin")

	// errKnown says that an event was not sent, as it says nothing new to the plugin.
	errKnown = errors.New("known to the plugin")
)

// send waits for the turn in a lane and delivers the event there, or in that of a
// successor, which it returns.
func (q *question) send(l *lane) (at *lane, reply any, err error) {
	wanted := l
	l, posted, err := l.enter(q.ctx, q.patience)
	if err != nil {
		return l, nil, q.unsent(l, posted, err)
	}
	var send bool
	switch {
	case l.closed != nil || l.lost():
		err = ErrClosed
	case q.ctx.Err() != nil:
		err = q.ctx.Err()
	case q.creation.undone():
		err = ErrStopped
	default:
		send, err = l.ledger.admit(q.event)
	}
	if send {
		l.record(q.event)
		send = l == wanted || l.subscribed(q.event.Kind)
	}
	if !send {
		l.passOn()
		l.mu.Unlock()
		switch {
		case err == nil:
			return l, nil, errKnown
		case errors.Is(err, ErrStopped):
			return l, nil, err
		case errors.Is(err, ErrClosed) && q.engine.succeeded(l):
			return l, nil, errMoved
		}
		return l, nil, q.unsent(l, posted, err)
	}
	r := &request{Context: q.ctx, lane: l, event: q.event, posted: posted, demanded: q.demanded(l)}
	if l.transmit(r) {
		l.conclude(r)
		l.passOn()
		l.mu.Unlock()
		return l, r.reply, r.outcome
	}
	ready := make(chan struct{})
	r.ready = ready
	l.mu.Unlock()
	select {
	case <-ready:
	case <-q.ctx.Done():
		if err := q.leave(l, r); err != nil {
			return l, nil, err
		}
		<-ready // in the same moment
	}
	if r.outcome != nil {
		return l, nil, r.outcome // a reply may still come, and is nothing to the caller
	}
	return l, r.reply, nil
}

// leave is for a caller who gives up on a request that was sent. It returns nil
// if that has ended.
func (q *question) leave(l *lane, r *request) error {
	l.mu.Lock()
	if r.answered || r.expired {
		l.mu.Unlock()
		return nil
	}
	r.abandoned = true
	sent := r.sent
	l.mu.Unlock()
	err := fmt.Errorf("%s: asking plugin %s: %w", q.event, l.name, q.ctx.Err())
	q.engine.opts.Observer.Delivered(Delivery{
		Context: q.ctx, Conn: l.conn, Event: q.event, Outcome: Canceled, Waited: sent.Sub(r.posted), Took: time.Since(sent), Err: err,
	})
	return err
}

// unsent settles an event that was not sent: its caller gave up, which says
// nothing of the plugin, the plugin joins or has come back, or it failed, which its
// policy judges.
func (q *question) unsent(l *lane, posted time.Time, err error) error {
	var overdue *Overdue
	failure := Loss
	rec := Delivery{Context: q.ctx, Conn: l.conn, Event: q.event, Err: err}
	if !posted.IsZero() {
		rec.Waited = time.Since(posted)
	}
	switch {
	case errors.Is(err, errAbsent):
		return err
	case errors.Is(err, errJoining), errors.Is(err, errReturned):
		rec.Outcome = PassedOver
		q.creation.missedBy(l)
		q.engine.opts.Observer.Delivered(rec)
		return errWithout
	case errors.As(err, &overdue):
		rec.Outcome, failure = PassedOver, Debt
	case errors.Is(err, ErrClosed):
		rec.Outcome = Lost
	default:
		err = fmt.Errorf("%s: waiting for plugin %s: %w", q.event, l.name, err)
		rec.Outcome, rec.Err = Withdrawn, err
		q.engine.opts.Observer.Delivered(rec)
		return err
	}
	q.engine.opts.Observer.Delivered(rec)
	demanded := q.demanded(l)
	if demanded && failure == Loss {
		return errUnsent
	}
	if fail, _ := l.policy.Decide(q.event.Kind, failure); fail || demanded {
		return &Error{l.conn, q.event, failure, err}
	}
	if failure == Debt {
		q.creation.missedBy(l)
	}
	return errWithout
}
