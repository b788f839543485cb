// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// A creation is a pod or container whose first event is under way. That of a
// container lasts on, sealed, until the runtime lists the container itself:
// from when all agreed, those who join must find it in their Synchronize.
type creation struct {
	event  Event
	since  time.Time
	sealed bool // guarded by Engine.mu

	demands []*demand // of which each has to be met before it is sealed
	lacks   atomic.Pointer[lack]

	// Written by the caller of Ask alone.
	missed  []*lane // that are told late
	asked   []*lane // whether they have answered or it goes on without them
	earlier int     // how many of those were before the latest came in

	heirs []*lane       // that are told late, since another one was asked; guarded by Engine.mu
	over  chan struct{} // closed when it is sealed or given up, if anyone wants to know; likewise

	doomed atomic.Bool
	asking atomic.Pointer[lane]
}

// undone says whether the creation must not go on: its end was handed in. Asked
// with a lane's lock held, it says whether the end may be in that lane: if not,
// the creation's event comes before it.
func (c *creation) undone() bool { return c != nil && c.doomed.Load() }

func (c *creation) waitFor(l *lane) {
	if c != nil {
		c.asking.Store(l)
	}
}

// missedBy notes that a connection is to be told when all others have agreed.
func (c *creation) missedBy(l *lane) {
	if c != nil {
		c.missed = append(c.missed, l)
	}
}

// told notes what came of asking a connection.
func (c *creation) told(l *lane, err error) {
	if c == nil || err != nil && !errors.Is(err, errWithout) {
		return
	}
	if c.asked == nil {
		c.asked = make([]*lane, 0, 16) // more than most nodes have
	}
	c.asked = append(c.asked, l)
}

// askedBefore says whether the connection has a name that was asked before it came in, or
// two predecessors that were: it is told late. A plugin that is asked twice of one container makes
// its adjustment twice, and those that hang and come back, or are succeeded by one that
// hangs, could hold up a creation by turns for ever (L22).
func (c *creation) askedBefore(l *lane) bool {
	if c == nil {
		return false
	}
	predecessors := 0
	for i, o := range c.asked {
		if o.name != l.name {
			continue
		}
		if o.latest() == l && o != l {
			predecessors++
		}
		if i < c.earlier || predecessors > 1 {
			return true
		}
	}
	return false
}

// create asks all connections of a first event, those that join meanwhile too.
func (e *Engine) create(ctx context.Context, ev Event, each func(Connection, any) error) (err error) {
	c := &creation{event: ev, since: time.Now()}
	if c.demands, err = e.demands(ctx, ev); err != nil {
		return err
	}
	if err := e.conceive(c); err != nil {
		return fmt.Errorf("%s: %w", ev, err)
	}
	ctx, cancel := e.withUndo(ctx)
	defer cancel()
	q := question{engine: e, ctx: ctx, event: ev, each: each, creation: c}
	if err := q.askAll(); err != nil {
		e.forgo(c)
		return err
	}
	for _, l := range c.missed {
		l.missedEvent(c)
	}
	if ev.Container == "" {
		e.forgo(c) // the runtime lists pods by itself from their first resource on
	}
	return nil
}

// askAll asks until nobody is left to ask, and all that is demanded is met.
func (q *question) askAll() error {
	if err := q.await(); err != nil {
		return err
	}
	var asked uint64 // all that were listed for up to this one were asked
	for {
		lanes, last, err := q.engine.unasked(q.creation, asked)
		switch {
		case errors.Is(err, errUnanswered):
			if err := q.askSuccessors(asked); err != nil {
				return err
			}
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", q.event, err)
		case lanes == nil:
			return nil
		}
		q.creation.earlier = len(q.creation.asked)
		for _, l := range lanes {
			if l.seq <= asked {
				continue
			}
			if err := q.ask(l); err != nil {
				return err
			}
		}
		asked = last
	}
}

// askSuccessors waits until all that is demanded can be met, and asks those who may meet it
// and are not new: a connection that has taken over from one that was asked has its number.
func (q *question) askSuccessors(asked uint64) error {
	if err := q.await(); err != nil {
		return err
	}
	for _, l := range q.engine.asked() {
		if l.seq > asked || !q.mayBeMetBy(l) {
			continue
		}
		if err := q.ask(l); err != nil {
			return err
		}
	}
	return nil
}

// conceive enters a creation, unless its pod is stopped. An object whose id was
// that of one that was removed is another one.
func (e *Engine) conceive(c *creation) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended.forget(c.event.object())
	if e.ended.stage(object{pod: c.event.Pod}) != alive {
		return ErrStopped
	}
	e.creations[c.event.object()] = c
	return nil
}

// hasEnded says whether the end of an object, or of its pod, was handed in.
func (e *Engine) hasEnded(o object) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ended.stage(o) != alive
}

// unasked returns the connections if any was listed for after number asked, and
// the number of the last. If none was, it seals the creation in the same instant:
// so no plugin falls between those that were asked and those that find it in
// their Synchronize. Those for which the runtime is listing in this instant may
// find it or not, so they are told of it late unless they did (L2). Before all that
// it demands is met nothing is sealed (L20).
//
// A connection whose list is still to be taken is not waited for. The runtime may
// be unable to take one while an operation is under way (L13).
func (e *Engine) unasked(c *creation, asked uint64) (lanes []*lane, last uint64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.undone() {
		return nil, 0, ErrStopped
	}
	if e.lists > asked && slices.ContainsFunc(e.askable, func(l *lane) bool { return l.seq > asked }) {
		return e.askable, e.lists, nil
	}
	if !c.met() {
		return nil, 0, errUnanswered
	}
	c.sealed = true
	c.settle()
	for _, l := range e.listing {
		if !slices.Contains(e.pending, l) { // to whom another one tells
			c.missed = append(c.missed, l)
		}
	}
	c.missed = append(c.missed, c.heirs...)
	if c.event.Container == "" && e.opts.OmitCreating {
		e.agreed[c.event.Pod] = true
	}
	return nil, 0, nil
}

// forgo takes out a creation that failed, or that the runtime lists.
func (e *Engine) forgo(c *creation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.settle()
	if o := c.event.object(); e.creations[o] == c {
		delete(e.creations, o)
	}
}

// listed takes out the creation of a container that the runtime lists now.
func (e *Engine) listed(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.creations, ev.object())
}
