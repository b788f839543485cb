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
// connection that joined before Ask returned nil. One that joins later finds
// the pod or container in its Synchronize. If Ask fails, the caller ends what
// was begun with Teardown, whose events reach those that were told.
//
// A plugin gets the request timeout for its answer, counted from when the
// event was sent; the wait for its earlier requests is bounded by ctx alone.
func (e *Engine) Ask(ctx context.Context, ev Event, each func(Connection, any) error) error {
	switch {
	case ev.Kind.final() || ev.Kind == Synchronize || ev.Kind == 0:
		return fmt.Errorf("%s is not an event to ask for", ev)
	case ev.Kind.first():
		return e.create(ctx, ev, each)
	case ev.Kind == PostCreateContainer:
		e.listed(ev)
	}
	for _, l := range e.connected() {
		if err := e.ask(ctx, l, ev, nil, each); err != nil {
			return err
		}
	}
	return nil
}

// ask asks one connection in its turn. c is the creation that a first event
// belongs to.
func (e *Engine) ask(ctx context.Context, l *lane, ev Event, c *creation, each func(Connection, any) error) error {
	var reply any
	var err error
	if l.subscribed(ev.Kind) {
		c.waitFor(l)
		reply, err = e.send(ctx, l, ev, c)
		c.waitFor(nil)
	} else {
		err = l.note(ev, c)
	}
	switch {
	case err == nil && each != nil:
		return each(l.conn, reply)
	case err == nil || errors.Is(err, errAbsent) || errors.Is(err, errWithout):
		return nil
	case errors.Is(err, ErrStopped):
		return fmt.Errorf("%s: %w", ev, err)
	}
	return err
}

// errWithout says that a plugin failed, and that its policy is to go on.
var errWithout = errors.New("going on without the plugin")

// send waits for the turn in a lane and delivers an event there.
func (e *Engine) send(ctx context.Context, l *lane, ev Event, c *creation) (any, error) {
	waited, err := l.enter(ctx)
	if err != nil {
		return nil, e.unsent(ctx, l, ev, waited, err)
	}
	defer l.leave()
	var send bool
	switch {
	case l.closed != nil:
		err = ErrClosed
	case ctx.Err() != nil:
		err = ctx.Err()
	case c.undone():
		return nil, ErrStopped
	default:
		if send, err = l.ledger.admit(ev); !send {
			return nil, err
		}
	}
	if err != nil {
		l.mu.Unlock()
		err = e.unsent(ctx, l, ev, waited, err)
		l.mu.Lock()
		return nil, err
	}
	d := l.begin(ctx, ev)
	l.mu.Unlock()
	reply, err, fail := l.deliver(d, ev, waited, nil)
	if err != nil && fail == nil {
		fail = errWithout
	}
	return reply, fail
}

// unsent settles an event that was not sent: its caller gave up, which says
// nothing of the plugin, or the connection closed, which its policy judges.
func (e *Engine) unsent(ctx context.Context, l *lane, ev Event, waited time.Duration, err error) error {
	if errors.Is(err, errAbsent) {
		return err
	}
	rec := Delivery{Conn: l.conn, Event: ev, Waited: waited}
	if errors.Is(err, ErrClosed) {
		rec.Outcome, rec.Err = Lost, err
		err, _ = l.conn.Failed(ev, err)
		if err == nil {
			err = errWithout
		}
	} else {
		err = fmt.Errorf("%s: waiting for plugin %s: %w", ev, l.name, err)
		rec.Outcome, rec.Err = Withdrawn, err
	}
	e.opts.Observer.Delivered(rec)
	return err
}
