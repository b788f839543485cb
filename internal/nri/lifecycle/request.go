// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A request is one event that is sent to one connection. It ends with the
// plugin's answer or with the connection, never with its caller and not with
// its timeout: until it ends the plugin is sent nothing else (L4). When the
// timeout passes it has failed, and the connection is dropped or overdue.
//
// It is the context that Connection.Deliver gets, with the values of the
// caller's.
type request struct {
	context.Context // the caller's, of which only the values and the deadline count

	lane    *lane
	session *session
	event   Event
	part    *part     // that the event belongs to, nil if a caller asked
	posted  time.Time // when it was meant for the plugin, zero if it had not to wait
	sent    time.Time
	due     time.Time // when the timeout passes

	demanded bool // whether it fails its caller, whatever the policy, if it is not answered
	missed   bool // whether it is sent once more, to a plugin that has missed it

	// Guarded by lane.mu.
	sending   bool // Deliver has not returned: who called it sees to the answer
	answered  bool
	settled   bool // what became of it was taken into account
	expired   bool // the timeout passed first
	kept      bool // it did, and the connection was not dropped for it
	abandoned bool // the caller has left
	timer     *time.Timer
	reply     any
	err       error // of the answer

	// What the caller gets. Written before ready is closed, or the caller sees
	// to the answer itself.
	ready   chan struct{}
	outcome error // nil, errWithout or what fails the caller's request

	mu     sync.Mutex // guards what follows
	armed  context.Context
	cancel context.CancelFunc
	over   bool
}

// Deadline implements context.Context: there is none, see Connection.Deliver.
func (r *request) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements context.Context. The channel is made only for those who ask:
// a plugin that runs in the process often answers without it.
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

// Value implements context.Context. Once armed it finds, as package context
// looks for it, the context whose channel Done returns; so contexts derived
// from this one need no goroutine of their own.
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

// transmit sends a request, and says whether the plugin has answered already.
// If not, the answer is seen to when it comes, or its timeout. The caller holds
// the turn, and l.mu, though that not throughout.
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
		return // twice, or too late for a connection that is closed
	}
	r.answered, r.reply, r.err = true, reply, err
	if !r.sending && l.conclude(r) {
		l.goOn(r.part)
	}
}

// conclude sees to an answer, and says whether the turn is still the request's: its session
// may have left the lane meanwhile. The caller holds l.mu, though not throughout.
func (l *lane) conclude(r *request) bool {
	if !r.settled {
		what := l.settle(r)
		l.mu.Unlock()
		what.tell(r)
		l.mu.Lock()
	}
	r.wake()
	if l.current != r {
		return false
	}
	l.current = nil
	return true
}

// A settlement is what an answer came to, to be told without a lock.
type settlement struct {
	Delivery
	silent    bool // it was told before
	recovered bool
	unheard   bool
	drop      bool
}

// settle takes an answer into account. l.mu is held.
func (l *lane) settle(r *request) (what settlement) {
	r.settled = true
	if r.timer != nil {
		r.timer.Stop()
	}
	s := r.session
	if r.err != nil && s.lost() {
		r.err = also(r.err, ErrClosed) // whatever else it says: nobody has answered
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
		l.heard(r.event)
	case r.event.Kind.First():
		l.ledger.Unanswered(r.event)
	case r.missed && l.breaks.again(r.event):
		what.Outcome, what.silent = Abandoned, false
		l.heard(r.event)
	}
	what.unheard = r.reply != nil && r.err == nil && !r.take()
	return what
}

// tell tells of it, and drops a plugin that is of no use any more.
func (w *settlement) tell(r *request) {
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

// delivery is what is recorded of a request that ends now.
func (r *request) delivery(o Outcome) Delivery {
	rec := Delivery{Context: r.Context, Conn: r.session.conn, Event: r.event, Outcome: o, Waited: r.sent.Sub(r.posted), Took: time.Since(r.sent)}
	rec.Missed = r.part != nil && r.part.missed
	rec.Late = r.event.Late || r.part != nil && r.part.late
	return rec
}

// take gives the reply to who waits for it, if anyone does. l.mu is held.
func (r *request) take() bool {
	switch {
	case r.part != nil:
		return r.part.take(r)
	case r.event.Late, r.abandoned, r.expired:
		return false
	}
	return true
}

// wake lets go of the caller. l.mu is held.
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

// expire is called when the timeout of a request has passed. The connection is
// dropped or, by its policy, overdue: it is asked nothing until it answers.
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
