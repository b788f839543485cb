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

	lane   *lane
	event  Event
	part   *part     // that the event belongs to, nil if a caller asked
	posted time.Time // when it was meant for the plugin, zero if it had not to wait
	sent   time.Time
	due    time.Time // when the timeout passes

	owed     bool // whether it is a debt
	demanded bool // whether it fails its caller, whatever the policy, if it is not answered

	// Guarded by lane.mu.
	sending   bool // Deliver has not returned: who called it sees to the answer
	answered  bool
	expired   bool // the timeout passed first, or the connection closed
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
	r.sent = time.Now()
	if r.posted.IsZero() {
		r.posted = r.sent
	}
	r.due = r.sent.Add(l.requestTimeout())
	r.sending = true
	l.current = r
	l.work.Add(1)
	l.mu.Unlock()
	l.conn.Deliver(r, r.event, r.announced(), r.answer)
	l.mu.Lock()
	l.work.Done()
	r.sending = false
	if l.closed != nil && !r.answered {
		r.answered, r.err = true, ErrClosed
	}
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
	if r.answered || l.current != r {
		return // twice, or too late for a connection that is closed
	}
	r.answered, r.reply, r.err = true, reply, err
	if r.sending {
		return
	}
	l.conclude(r)
	l.goOn(r.part)
}

// conclude sees to an answer. The caller holds the turn, and l.mu, though that
// not throughout.
func (l *lane) conclude(r *request) {
	if r.timer != nil {
		r.timer.Stop()
	}
	l.current = nil
	if r.err != nil && (l.closed != nil || l.lost()) {
		r.err = also(r.err, ErrClosed) // whatever else it says: nobody has answered
	}
	late := r.expired || r.abandoned // what became of it was told then
	recovered := late && !errors.Is(r.err, ErrClosed)
	took := time.Since(r.sent)
	rec := Delivery{Context: r.Context, Conn: l.conn, Event: r.event, Outcome: Answered, Waited: r.sent.Sub(r.posted), Took: took}
	var drop bool
	if r.err != nil && !r.expired {
		rec.Outcome, drop, rec.Err = l.judge(r)
	}
	if rec.Outcome == Lost {
		l.unsend(r)
	}
	rec.Late, rec.Owed = r.event.Late || r.owed || r.part != nil && r.part.late, r.owed
	switch {
	case !errors.Is(r.err, ErrClosed):
		l.heard(r.event)
	case r.owed && l.breaksAgain(r.event):
		l.pays(r.event) // it is not told any more
	case r.part != nil:
		l.owe(r.part.round, r.event, &r.event)
	}
	unheard := r.reply != nil && r.err == nil && !r.take()
	l.mu.Unlock()

	r.cut()
	if recovered {
		l.engine.opts.Observer.Recovered(l.conn, r.event, took)
		l.engine.recovered()
	}
	if !late {
		l.engine.opts.Observer.Delivered(rec)
	}
	if unheard {
		l.engine.opts.Unheard(l.conn, r.event, r.reply)
	}
	if drop {
		l.engine.drop(l, rec.Err)
	}

	l.mu.Lock()
	if rec.Err != nil {
		l.failure, l.failureAt = rec.Err, time.Now()
	}
	if !r.expired {
		r.wake()
	}
}

// take gives the reply to who waits for it, if anyone does. l.mu is held.
func (r *request) take() bool {
	switch {
	case r.part != nil:
		return r.part.take(r)
	case r.event.Late, r.owed, r.abandoned, r.expired:
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

// judge says what becomes of a request whose answer is an error. l.mu is held.
func (l *lane) judge(r *request) (Outcome, bool, error) {
	outcome, failure := Refused, Refusal
	if errors.Is(r.err, ErrClosed) {
		outcome, failure = Lost, Loss
	}
	drop := l.fail(r, failure, r.err)
	return outcome, drop, r.err
}

// fail applies the policy to a request that failed. l.mu is held.
func (l *lane) fail(r *request, f Failure, err error) (drop bool) {
	fail, drop := l.policy.Decide(r.event.Kind, f)
	r.outcome = errWithout
	if fail || r.demanded {
		r.outcome = &Error{l.conn, r.event, f, err}
	}
	if r.part != nil {
		r.part.fail(r.event, err)
	}
	return drop
}

// expire is called when the timeout of a request has passed. The connection is
// dropped or, by its policy, overdue: it is asked nothing until it answers.
func (r *request) expire() {
	l := r.lane
	l.mu.Lock()
	if r.answered || r.expired || l.closed != nil {
		l.mu.Unlock()
		return
	}
	r.expired = true
	took := time.Since(r.sent)
	err := fmt.Errorf("no answer within %s: %w", r.due.Sub(r.sent), context.DeadlineExceeded)
	drop := l.fail(r, Timeout, err)
	l.failure, l.failureAt = err, time.Now()
	rec := Delivery{Context: r.Context, Conn: l.conn, Event: r.event, Outcome: TimedOut, Waited: r.sent.Sub(r.posted), Took: took,
		Late: r.event.Late || r.owed || r.part != nil && r.part.late, Owed: r.owed, Err: err}
	var passed []*caller
	if !drop {
		passed = l.fallBehind(r)
	}
	l.mu.Unlock()

	if !r.abandoned {
		l.engine.opts.Observer.Delivered(rec)
	}
	if drop {
		l.engine.drop(l, err)
	}
	l.mu.Lock()
	r.wake()
	l.mu.Unlock()
	for _, c := range passed {
		close(c.ready)
	}
}

// also returns an error that is both err and what.
func also(err, what error) error {
	if errors.Is(err, what) {
		return err
	}
	return fmt.Errorf("%w: %w", what, err)
}

// lost says whether the connection is closed, whoever noticed first.
func (l *lane) lost() bool {
	select {
	case <-l.gone:
		return true
	case <-l.conn.Closed():
		return true
	default:
		return false
	}
}
