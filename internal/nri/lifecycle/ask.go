// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Ask sends an event that plugins may reject to one connection after the other, in the
// order of their indices, and returns the first failure. It takes all events except ends, which
// Teardown takes. ValidateContainerAdjustment changes nothing, so it goes to all
// connections side by side, without calls of each.
//
// each, if not nil, is called after each connection with its reply, before the next connection
// is asked. It may change the event's Request, and its error is a failure, too. The reply is
// nil for a connection that did not subscribe, or does not know the pod or container. each is
// not called for a connection that failed, if its policy lets the request go on.
//
// A first event, RunPodSandbox or CreateContainer, reaches every connection whose inventory
// was taken before Ask returned nil. It arrives late at a connection that is overdue, was not
// synchronized within one SyncTimeout, or registered under a name that had been asked. A later
// connection finds the pod in its Synchronize, and receives the container late. A container is
// delivered late when the runtime has it: at its next event, or when a list has it. If Ask
// fails, the caller must end the pod or container with Teardown, which reaches the
// connections that received the first event.
//
// A creation or start is rejected with ErrStopped if the end of its pod or container was
// submitted before Ask returned.
//
// The plugins that Options.Required names must answer a first event, whatever their policy: an
// Unmet error names the plugin that has not. Those that are First are asked before the others.
// If the caller has a deadline, a first event leaves time for the Teardown.
//
// A plugin has the request timeout for its answer, from when the event was sent. Ask
// returns when ctx ends. The plugin then receives nothing else until it has answered. The error
// is an OutOfTime if ctx has ended, or if others took the time of a plugin that rejects.
func (e *Engine) Ask(ctx context.Context, ev Event, each func(Connection, any) error) error {
	switch {
	case ev.Kind.Final() || ev.Kind == Synchronize || ev.Kind == 0:
		return fmt.Errorf("%s is not an event for Ask", ev)
	case ev.Kind.First():
		return e.create(ctx, ev, each)
	case ev.Kind == ValidateContainerAdjustment:
		return e.validate(ctx, ev)
	case ev.Container != "":
		e.made(ev.ID()) // also if there is no PostCreateContainer, as in CRI-O
	}
	q := e.question(ctx, ev)
	q.each = each
	switch {
	case ev.Kind.Updates():
		return q.blame(q.update())
	case ev.Kind == PostUpdateContainer, ev.Kind == PostUpdatePodSandbox:
		e.endUpdate(ev, true)
	}
	return q.blame(q.askInTurn())
}

// askInTurn asks all plugins that exist now.
func (q *question) askInTurn() error {
	if err := q.askEach(q.engine.asked(q.event)); err != nil {
		return err
	}
	return q.rejectEnded() // it may have ended while the last plugin was asked
}

// askEach asks one plugin after the other. If one has not answered that is to be the first, it waits for
// that instead: the others are asked in the next round.
func (q *question) askEach(lanes []*lane) error {
	timeouts := q.timeouts(lanes)
	for i, l := range lanes {
		if !q.creation.mayAsk(l) {
			return q.await()
		}
		q.rest = timeouts[min(i+1, len(timeouts)):]
		if err := q.ask(l); err != nil {
			return err
		}
	}
	return nil
}

// validate asks all lanes at once, and returns the failure of the first that has one.
func (e *Engine) validate(ctx context.Context, ev Event) error {
	lanes := e.asked(ev)
	errs, parts := make([]error, len(lanes)), make([]question, len(lanes))
	whole := e.question(ctx, ev)
	var all sync.WaitGroup
	for i, l := range lanes {
		all.Add(1)
		go func() {
			defer all.Done()
			parts[i] = whole
			errs[i] = parts[i].ask(l)
		}()
	}
	all.Wait()
	for _, part := range parts {
		whole.uses = append(whole.uses, part.uses...)
	}
	return whole.blame(cmp.Or(errs...))
}

// A question is one call of Ask, or the part of it for one connection if all are asked at once.
type question struct {
	engine   *Engine
	ctx      context.Context
	event    Event
	each     func(Connection, any) error
	creation *creation     // the creation of a first event, else nil
	waited   time.Duration // for connections that join
	sent     []*request    // those sent, if the event is an update
	without  []*session    // those that an update went on without

	deadline time.Time       // the caller's, zero if it has none
	had      time.Duration   // the time of all plugins together until then
	rest     []time.Duration // the timeouts of those that are asked after this one
	uses     []Use           // of the time, by those asked so far
	starved  bool            // whether others took the time of the one that was asked last
}

// question returns the question of one call of Ask.
func (e *Engine) question(ctx context.Context, ev Event) question {
	q := question{engine: e, ctx: ctx, event: ev}
	if deadline, limited := ctx.Deadline(); limited {
		q.deadline, q.had = deadline, max(0, time.Until(deadline))
	}
	return q
}

// patience is how long the question still waits for connections that join: one
// SyncTimeout in all (L13). The time that others take to answer does not count.
func (q *question) patience() time.Duration { return q.engine.opts.SyncTimeout() - q.waited }

// rejectEnded rejects a creation or start whose pod or container has ended: the runtime has
// submitted the end (L11), and its connections receive that. So it need not wait for their turn.
func (q *question) rejectEnded() error {
	var ended bool
	switch {
	case q.creation != nil:
		ended = q.creation.undone()
	case q.event.Kind == StartContainer:
		ended = q.engine.hasEnded(q.event.ID())
	}
	if ended {
		return fmt.Errorf("%s: %w", q.event, ErrStopped)
	}
	return nil
}

// ask asks the plugin of one lane in its turn.
func (q *question) ask(l *lane) error {
	if err := q.rejectEnded(); err != nil {
		return err
	}
	s, reply, err := q.putInTime(l)
	if s != nil && q.demanded(l) {
		err = q.apply(l, s, err)
	}
	q.creation.received(l, s, err)
	switch {
	case err == nil || errors.Is(err, errKnown):
		if q.each != nil {
			return q.each(s.conn, reply)
		}
		return nil
	case errors.Is(err, errWithout):
		if q.event.Kind.Updates() {
			q.without = append(q.without, s)
		}
		return nil
	case errors.Is(err, errAbsent):
		return nil
	case errors.Is(err, ErrStopped):
		return fmt.Errorf("%s: %w", q.event, err)
	}
	return err
}

var (
	// errWithout means that a plugin failed, and that its policy is to go on without it.
	errWithout = errors.New("going on without the plugin")

	// errKnown means that an event was not sent, because the plugin need not receive it.
	errKnown = errors.New("known to the plugin")
)

// put sends the event to the plugin of a lane, and returns the session that it had.
func (q *question) put(l *lane) (s *session, reply any, err error) {
	l.mu.Lock()
	if s = l.session; s == nil {
		l.mu.Unlock()
		return nil, nil, errAbsent
	}
	if !s.subscribed(q.event.Kind) {
		if err := q.unfit(l); err != nil {
			l.mu.Unlock()
			return s, nil, err
		}
		full, err := l.note(q.event, q.creation)
		l.mu.Unlock()
		if full != nil {
			q.engine.drop(s, full)
			return s, nil, errAbsent
		}
		return s, nil, err
	}
	l.mu.Unlock()
	if err := q.skips(l, s); err != nil {
		return s, nil, q.unsent(l, s, time.Time{}, err)
	}
	q.creation.waitFor(s)
	defer q.creation.waitFor(nil)
	return q.send(l, s)
}

// send waits for the turn in a lane and delivers the event there. It returns the session that
// the plugin has by then.
func (q *question) send(l *lane, wanted *session) (s *session, reply any, err error) {
	posted, err := l.enter(q)
	defer func() { q.took(l, posted) }()
	if err != nil {
		return wanted, nil, q.unsent(l, wanted, posted, err)
	}
	s = l.session
	var send bool
	switch {
	case s == nil || !s.joined:
		s, err = wanted, ErrClosed
	case s.lost():
		err = ErrClosed
	case q.ctx.Err() != nil:
		err = q.ctx.Err()
	case q.creation.undone():
		err = ErrStopped
	case !s.subscribed(q.event.Kind):
		_, err = l.ledger.Admit(q.event)
	default:
		send, err = l.ledger.Admit(q.event)
	}
	if !send {
		l.passOn()
		l.mu.Unlock()
		switch {
		case err == nil:
			return s, nil, errKnown
		case errors.Is(err, ErrStopped):
			return s, nil, err
		}
		return s, nil, q.unsent(l, s, posted, err)
	}
	r := &request{Context: q.withShare(s), event: q.event, posted: posted, demanded: q.demanded(l)}
	if q.event.Kind.Updates() {
		q.sent = append(q.sent, r)
	}
	answered := l.transmit(r)
	q.starved = q.starves(r)
	if answered {
		if l.conclude(r) {
			l.passOn()
		}
		l.mu.Unlock()
		return s, r.reply, r.outcome
	}
	ready := make(chan struct{})
	r.ready = ready
	l.mu.Unlock()
	posted = r.posted // an answer that comes at once takes no time
	select {
	case <-ready:
	case <-q.ctx.Done():
		if err := q.leave(l, r); err != nil {
			return s, nil, err
		}
		<-ready // at the same moment
	}
	if r.outcome != nil {
		return s, nil, r.outcome // a later reply does not concern the caller
	}
	return s, r.reply, nil
}

// leave leaves a request that was sent, because the caller has canceled. It returns nil if the
// request has ended.
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
		Context: q.ctx, Conn: r.session.conn, Event: q.event, Outcome: Canceled, Waited: sent.Sub(r.posted), Took: time.Since(sent), Err: err,
	})
	return err
}

// unsent handles an event that was not sent: because the caller canceled, the plugin was joining
// or has come back, or the plugin failed. Only the last is judged by its policy.
func (q *question) unsent(l *lane, s *session, posted time.Time, err error) error {
	var overdue *Overdue
	failure := Loss
	rec := Delivery{Context: q.ctx, Conn: s.conn, Event: q.event, Err: err}
	if !posted.IsZero() {
		rec.Waited = time.Since(posted)
	}
	switch {
	case errors.Is(err, errAbsent):
		return err
	case errors.Is(err, errJoining) && q.demanded(l):
		return errUnsent // wait for it as for a disconnected plugin
	case errors.Is(err, errJoining), errors.Is(err, errReturned), errors.Is(err, errTooLate):
		rec.Outcome = Skipped
		q.creation.missedBy(l)
		q.engine.opts.Observer.Delivered(rec)
		return errWithout
	case errors.As(err, &overdue), errors.Is(err, ErrBacklog): // of a permanent plugin
		rec.Outcome, failure = Skipped, Skip
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
	if fail, _ := s.policy.Decide(q.event.Kind, failure); fail || demanded {
		return &Error{s.conn, q.event, failure, err}
	}
	if failure == Skip {
		q.creation.missedBy(l)
	}
	return errWithout
}
