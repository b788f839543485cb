// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A creation is a pod or container whose first event is under way. The creation of a container
// stays, sealed, until the runtime has the container: then the plugins that were not asked, or
// have registered since, receive it (L2). If the runtime fails to create it, they receive nothing.
type creation struct {
	event Event
	since time.Time

	// Guarded by Engine.mu.
	sealed     bool
	delivering int // the goroutines that deliver it late

	demands []*demand // it is sealed only when each is met
	lacks   atomic.Pointer[lack]

	// Written by the caller of Ask alone, until it is sealed.
	missed []*lane       // lanes that receive it late
	asked  []asked       // lanes that were asked, also if it went on without their answer
	begun  uint64        // Engine.lists when it began
	late   []*lane       // lanes of latecomers that are asked
	spent  time.Duration // on their answers

	aborted atomic.Bool
	asking  atomic.Pointer[session]
}

// An asked is a plugin that was asked, and the connection that it had.
type asked struct {
	lane    *lane
	session *session
}

// undone reports whether the creation must not go on, because its end was submitted. With a
// lane's lock held it reports whether the end may be in that lane: if not, the creation's
// event comes before it.
func (c *creation) undone() bool { return c != nil && c.aborted.Load() }

func (c *creation) waitFor(s *session) {
	if c != nil {
		c.asking.Store(s)
	}
}

// missedBy records that a plugin must receive the creation when all others have approved it.
func (c *creation) missedBy(l *lane) {
	if c != nil {
		c.missed = append(c.missed, l)
	}
}

// received records that a plugin was asked, unless that fails the creation.
func (c *creation) received(l *lane, s *session, err error) {
	if c == nil || s == nil || err != nil && !errors.Is(err, errWithout) && !errors.Is(err, errKnown) {
		return
	}
	if c.asked == nil {
		c.asked = make([]asked, 0, 16) // more than most nodes have
	}
	c.asked = append(c.asked, asked{l, s})
}

// longestWait returns the required plugin for which it has waited longest, nil if for none. It waits
// for all of them side by side.
func (c *creation) longestWait() (longest *demand) {
	if c == nil {
		return nil
	}
	for _, d := range c.demands {
		if d.waited > 0 && (longest == nil || d.waited > longest.waited) {
			longest = d
		}
	}
	return longest
}

// has reports whether a connection was asked.
func (c *creation) has(l *lane, s *session) bool { return slices.Contains(c.asked, asked{l, s}) }

// create sends a first event to all connections, also to those that join meanwhile.
func (e *Engine) create(ctx context.Context, ev Event, each func(Connection, any) error) (err error) {
	c := &creation{event: ev, since: time.Now()}
	if c.demands, err = e.demands(ctx, ev); err != nil {
		return err
	}
	if err := e.enterCreation(c); err != nil {
		return fmt.Errorf("%s: %w", ev, err)
	}
	ctx, cancel := e.withUndo(ctx)
	defer cancel()
	q := e.question(ctx, ev)
	q.each, q.creation = each, c
	if d := c.longestWait(); d != nil {
		q.had += d.waited // in Await
	}
	if err := q.askAll(); err != nil {
		e.removeCreation(c)
		return q.blame(err)
	}
	if ev.Container == "" {
		e.deliverLate(c, c.missed)
	}
	return nil
}

// askAll asks until no connection is left to ask and each demand is met.
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
		if err := q.askEach(lanes); err != nil {
			return err
		}
	}
}

// enterCreation enters a creation, unless its pod is stopped. If an object of its id was
// removed before, the creation is another object.
func (e *Engine) enterCreation(c *creation) error {
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

// underWay reports whether a creation is not sealed yet: it will be asked of, or delivered late
// to, each connection that exists when it is sealed. mu is held.
func (e *Engine) underWay(o ledger.ID) bool {
	c := e.creations[o]
	return c != nil && !c.sealed
}

// hasEnded reports whether the end of an object, or of its pod, was submitted.
func (e *Engine) hasEnded(o ledger.ID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ended.stage(o) != alive
}

// unasked returns the lanes of the connections that have not been asked, in the order in which to ask
// them. If there are none, it seals the creation in the same instant, so that it misses no plugin that
// registers later (L2): the runtime lists a pod from its first resource on. It does not seal the
// creation before all its demands are met (L20).
//
// It does not wait for a connection whose inventory is not taken yet: the runtime may be
// unable to list while an operation is under way (L13).
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
	slices.SortStableFunc(lanes, func(a, b *lane) int { return cmp.Compare(c.place(a), c.place(b)) })
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
	c.delivering++
	if e.opts.OmitCreating {
		e.agreed[c.event.Pod] = true
	}
	return nil, nil
}

// removeCreation takes out a creation that failed.
func (e *Engine) removeCreation(c *creation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.takeOut(c)
}

// takeOut takes out a creation, unless another creation has its id. mu is held.
func (e *Engine) takeOut(c *creation) {
	if o := c.event.ID(); e.creations[o] == c {
		delete(e.creations, o)
	}
}

// made delivers a container that the runtime has now to all plugins that were not asked.
func (e *Engine) made(o ledger.ID) {
	e.mu.Lock()
	c := e.creations[o]
	if c == nil || !c.sealed {
		e.mu.Unlock()
		return
	}
	c.delivering++
	late := slices.Concat(c.missed, e.latecomers(c))
	e.mu.Unlock()
	e.deliverLate(c, late)
}

// deliverLate delivers a creation to lanes that missed it. Its caller is counted in delivering: the
// creation stays until that is zero, because its end may come meanwhile.
func (e *Engine) deliverLate(c *creation, lanes []*lane) {
	for _, l := range lanes {
		l.missedEvent(c)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.delivering--; c.delivering == 0 {
		e.takeOut(c)
	}
}
