// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A creation is a pod or container whose first event is under way. That of a
// container lasts on, sealed, until the runtime has the container: then those who were not
// asked, or have come in since, are told of it (L2). If the runtime fails to make it, they hear
// nothing.
type creation struct {
	event Event
	since time.Time

	// Guarded by Engine.mu.
	sealed  bool
	telling int // who tell those who missed it

	demands []*demand // of which each has to be met before it is sealed
	lacks   atomic.Pointer[lack]

	// Written by the caller of Ask alone, until it is sealed.
	missed []*lane       // that are told late
	asked  []asked       // whether they have answered or it goes on without them
	begun  uint64        // the number of the last that was listed for when it began
	late   []*lane       // those that have come in since, and are asked
	spent  time.Duration // on their answers

	aborted atomic.Bool
	asking  atomic.Pointer[session]
}

// An asked is a plugin that was asked, by the connection that it had.
type asked struct {
	lane    *lane
	session *session
}

// undone says whether the creation must not go on: its end was handed in. Asked
// with a lane's lock held, it says whether the end may be in that lane: if not,
// the creation's event comes before it.
func (c *creation) undone() bool { return c != nil && c.aborted.Load() }

func (c *creation) waitFor(s *session) {
	if c != nil {
		c.asking.Store(s)
	}
}

// missedBy notes that a connection is to be told when all others have agreed.
func (c *creation) missedBy(l *lane) {
	if c != nil {
		c.missed = append(c.missed, l)
	}
}

// told notes what came of asking a plugin.
func (c *creation) received(l *lane, s *session, err error) {
	if c == nil || s == nil || err != nil && !errors.Is(err, errWithout) && !errors.Is(err, errKnown) {
		return
	}
	if c.asked == nil {
		c.asked = make([]asked, 0, 16) // more than most nodes have
	}
	c.asked = append(c.asked, asked{l, s})
}

// has says whether a connection was asked.
func (c *creation) has(l *lane, s *session) bool { return slices.Contains(c.asked, asked{l, s}) }

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
	if ev.Container == "" {
		e.tellLate(c, c.missed)
	}
	return nil
}

// askAll asks until nobody is left to ask, and all that is demanded is met.
func (q *question) askAll() error {
	if err := q.await(); err != nil {
		return err
	}
	for {
		lanes, err := q.engine.unasked(q.creation)
		switch {
		case errors.Is(err, errUnanswered):
			if err := q.await(); err != nil {
				return err
			}
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", q.event, err)
		case lanes == nil:
			return nil
		}
		for _, l := range lanes {
			if err := q.ask(l); err != nil {
				return err
			}
		}
	}
}

// conceive enters a creation, unless its pod is stopped. An object whose id was
// that of one that was removed is another one.
func (e *Engine) conceive(c *creation) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended.forget(c.event.ID())
	if e.ended.stage(ledger.ID{Pod: c.event.Pod}) != alive {
		return ErrStopped
	}
	e.creations[c.event.ID()], c.begun = c, e.lists
	delete(e.missing, ledger.ID{Pod: c.event.Pod})
	delete(e.missing, c.event.ID())
	return nil
}

// underWay says whether a creation is still to be sealed: it asks, or misses, each connection
// that there is by then. mu is held.
func (e *Engine) underWay(o ledger.ID) bool {
	c := e.creations[o]
	return c != nil && !c.sealed
}

// hasEnded says whether the end of an object, or of its pod, was handed in.
func (e *Engine) hasEnded(o ledger.ID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ended.stage(o) != alive
}

// unasked returns the lanes of the connections that are still to be asked, in index order.
// If there are none, it seals the creation in the same instant: so no plugin falls between
// those that were asked and those that come in later (L2). A pod is listed from its first
// resource on, so that this is all for it. Before all that a creation demands is met nothing
// is sealed (L20).
//
// A connection whose list is still to be taken is not waited for. The runtime may
// be unable to take one while an operation is under way (L13).
func (e *Engine) unasked(c *creation) (lanes []*lane, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.undone() {
		return nil, ErrStopped
	}
	for _, l := range e.askable {
		if s := l.session; !c.has(l, s) {
			lanes = append(lanes, l)
			c.comesLate(l, s)
		}
	}
	switch {
	case lanes != nil:
		return lanes, nil
	case !c.met():
		return nil, errUnanswered
	}
	c.sealed = true
	if c.event.Container != "" {
		e.listIfMany()
		return nil, nil
	}
	c.missed = append(c.missed, e.latecomers(c)...)
	c.telling++
	if e.opts.OmitCreating {
		e.agreed[c.event.Pod] = true
	}
	return nil, nil
}

// forgo takes out a creation that failed.
func (e *Engine) forgo(c *creation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.takeOut(c)
}

// takeOut takes out a creation, unless there is another one of the id. mu is held.
func (e *Engine) takeOut(c *creation) {
	if o := c.event.ID(); e.creations[o] == c {
		delete(e.creations, o)
	}
}

// made sees to it that all are told of a container that the runtime has now.
func (e *Engine) made(o ledger.ID) {
	e.mu.Lock()
	c := e.creations[o]
	if c == nil || !c.sealed {
		e.mu.Unlock()
		return
	}
	c.telling++
	late := slices.Concat(c.missed, e.latecomers(c))
	e.mu.Unlock()
	e.tellLate(c, late)
}

// tellLate tells of a creation those who missed it, for one of those that it counts as telling.
// It stays until all have done so: its end may come meanwhile.
func (e *Engine) tellLate(c *creation, lanes []*lane) {
	for _, l := range lanes {
		l.missedEvent(c)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.telling--; c.telling == 0 {
		e.takeOut(c)
	}
}
