// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A request is one event that is sent to one connection. It ends with the plugin's answer or
// with the connection, not with its caller and not with its timeout. Until it ends the plugin
// receives nothing else (L4). When the timeout passes, the request has failed, and the
// connection is dropped or overdue.
//
// It is the context that Connection.Deliver receives, with the values of the caller's context.
type request struct {
	context.Context // the caller's; only its values and its deadline are used

	lane    *lane
	session *session
	event   Event
	part    *part     // that the event belongs to, nil if a caller asked
	posted  time.Time // when it began to wait, zero if it did not wait
	sent    time.Time
	due     time.Time // when the timeout passes

	demanded bool // whether a missing answer fails it whatever the policy
	missed   bool // whether it is a missed end, or was lost with an earlier connection

	// Guarded by lane.mu.
	sending   bool // Deliver has not returned: its caller handles the answer
	answered  bool
	settled   bool // the answer was handled
	expired   bool // the timeout passed before the answer
	kept      bool // the connection was kept after the timeout
	abandoned bool // the caller has left
	timer     *time.Timer
	reply     any
	err       error // of the answer

	// The outcome for the caller. It is written before ready is closed; without ready the
	// caller handles the answer itself.
	ready   chan struct{}
	outcome error // nil, errWithout or what fails the caller's request

	mu     sync.Mutex // guards what follows
	armed  context.Context
	cancel context.CancelFunc
	over   bool
}

// Deadline implements context.Context: there is none, see Connection.Deliver.
func (r *request) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements context.Context. The channel is made by the first call: a plugin that runs in
// the process often answers without one.
func (r *request) Done() <-chan struct{} { return r.arm().Done() }

// Err implements context.Context.
func (r *request) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return context.Canceled
	}
	return nil
}

// Value implements context.Context. After Done it returns the context of Done's channel for the
// key by which package context looks for it. So derived contexts need no goroutine of
// their own.
func (r *request) Value(key any) any {
	r.mu.Lock()
	armed := r.armed
	r.mu.Unlock()
	if armed != nil {
		return armed.Value(key)
	}
	return r.Context.Value(key)
}

func (r *request) arm() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.armed == nil {
		r.armed, r.cancel = context.WithCancel(context.WithoutCancel(r.Context))
		if r.over {
			r.cancel()
		}
	}
	return r.armed
}

// cut ends the request's context.
func (r *request) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.cancel != nil {
		r.cancel()
	}
}

// transmit sends a request, and reports whether the plugin has answered already. If not, answer
// or expire handles the rest. The caller holds the turn and l.mu; l.mu is released in between.
func (l *lane) transmit(r *request) (answered bool) {
	s := l.session
	r.lane, r.session, r.sent = l, s, time.Now()
	if r.posted.IsZero() {
		r.posted = r.sent
	}
	r.due = r.sent.Add(s.requestTimeout(&l.engine.opts))
	r.missed = r.part != nil && (r.part.missed || r.part.again)
	r.sending = true
	l.current = r
	s.work.Add(1)
	l.mu.Unlock()
	s.conn.Deliver(r, r.event, r.announced(), r.answer)
	l.mu.Lock()
	s.work.Done()
	r.sending = false
	if !r.answered {
		r.timer = time.AfterFunc(time.Until(r.due), r.expire)
	}
	return r.answered
}

// answer takes the plugin's answer.
func (r *request) answer(reply any, err error) {
	l := r.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.answered {
		return // a second answer, or the connection is closed
	}
	r.answered, r.reply, r.err = true, reply, err
	if !r.sending && l.conclude(r) {
		l.goOn(r.part)
	}
}

// conclude handles an answer, and reports whether the request still has the turn: its session
// may have left the lane meanwhile. The caller holds l.mu, which is released in between.
func (l *lane) conclude(r *request) bool {
	if !r.settled {
		what := l.settle(r)
		l.mu.Unlock()
		what.report(r)
		l.mu.Lock()
	}
	r.wake()
	if l.current != r {
		return false
	}
	l.current = nil
	return true
}

// A settlement is the outcome of an answer. It is reported without a lock.
type settlement struct {
	Delivery
	silent    bool // the delivery was reported before
	recovered bool
	unheard   bool
	drop      bool
}

// settle handles an answer. l.mu is held.
func (l *lane) settle(r *request) (what settlement) {
	r.settled = true
	if r.timer != nil {
		r.timer.Stop()
	}
	s := r.session
	if r.err != nil && s.lost() {
		r.err = also(r.err, ErrClosed) // whatever the error: the plugin has not answered
	}
	lost := errors.Is(r.err, ErrClosed)
	what.silent = r.expired || r.abandoned
	what.recovered = what.silent && !lost
	if lost {
		_, what.drop = s.policy.Decide(r.event.Kind, Loss)
	}
	what.Delivery = r.delivery(Answered)
	if r.err != nil && !r.expired {
		failure := Rejection
		what.Outcome, what.Err = Rejected, r.err
		if lost {
			failure, what.Outcome = Loss, Lost
		}
		l.fail(r, failure, r.err)
		s.failure, s.failureAt = r.err, time.Now()
	}
	switch {
	case !lost || s.policy.Permanent:
		l.answered(r.event)
	case r.event.Kind.First():
		l.ledger.Unanswered(r.event)
	case r.missed && l.breaks.again(r.event):
		what.Outcome, what.silent = Abandoned, false
		l.answered(r.event)
	}
	what.unheard = r.reply != nil && r.err == nil && !r.take()
	return what
}

// report reports the outcome, and drops the plugin if its policy says so.
func (w *settlement) report(r *request) {
	e, conn := r.lane.engine, r.session.conn
	r.cut()
	if w.recovered {
		e.opts.Observer.Recovered(conn, r.event, w.Took)
		e.recovered()
	}
	if !w.silent {
		e.opts.Observer.Delivered(w.Delivery)
	}
	if w.unheard {
		e.opts.Unheard(conn, r.event, r.reply)
	}
	if w.drop {
		e.drop(r.session, r.err)
	}
}

// delivery returns the record of a request that ends now.
func (r *request) delivery(o Outcome) Delivery {
	rec := Delivery{Context: r.Context, Conn: r.session.conn, Event: r.event, Outcome: o, Waited: r.sent.Sub(r.posted), Took: time.Since(r.sent)}
	rec.Missed = r.part != nil && r.part.missed
	rec.Late = r.event.Late || r.part != nil && r.part.late
	return rec
}

// take reports whether a caller waits for the reply and takes it. l.mu is held.
func (r *request) take() bool {
	switch {
	case r.part != nil:
		return r.part.take(r)
	case r.event.Late, r.abandoned, r.expired:
		return false
	}
	return true
}

// wake releases the caller. l.mu is held.
func (r *request) wake() {
	if r.ready != nil {
		close(r.ready)
		r.ready = nil
	}
}

// fail applies the policy to a request that failed. l.mu is held.
func (l *lane) fail(r *request, f Failure, err error) (drop bool) {
	fail, drop := r.session.policy.Decide(r.event.Kind, f)
	r.outcome = errWithout
	if fail || r.demanded {
		r.outcome = &Error{r.session.conn, r.event, f, err}
	}
	if r.part != nil {
		r.part.fail(r.session, r.event, f, err)
	}
	return drop
}

// expire is called when the timeout of a request has passed. By its policy the connection is
// dropped, or is overdue and receives nothing until it answers.
func (r *request) expire() {
	l, s := r.lane, r.session
	l.mu.Lock()
	if r.answered || r.expired {
		l.mu.Unlock()
		return
	}
	r.expired = true
	err := fmt.Errorf("no answer within %s: %w", r.due.Sub(r.sent), context.DeadlineExceeded)
	drop := l.fail(r, Timeout, err)
	s.failure, s.failureAt = err, time.Now()
	rec := r.delivery(TimedOut)
	rec.Err = err
	var passed []*caller
	if !drop {
		passed = l.fallBehind(r)
	}
	abandoned, ready := r.abandoned, r.ready
	r.ready = nil
	l.mu.Unlock()

	for _, c := range passed {
		close(c.ready)
	}
	if !abandoned {
		l.engine.opts.Observer.Delivered(rec)
	}
	if drop {
		l.engine.drop(s, err)
	}
	if ready != nil {
		close(ready)
	}
}
