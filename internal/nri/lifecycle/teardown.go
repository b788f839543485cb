// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Teardown tells the connections of ends, in the order given: the Stop of a
// pod after those of its containers, a Remove after its Stop. All that know
// the object get them at the same time, whatever the others do (L9). What a
// connection had before is not sent again (L11); what it has to be told and is
// missing in events is sent in its place, see Options.ImpliedEnd.
//
// Teardown waits for all together no longer than TeardownWait, and not for a
// connection that is overdue or not synchronized yet. ctx is used for its values
// alone: neither the wait nor the events end with it (L7). What a plugin has not
// answered by then goes on with nobody waiting for it, in order with what
// follows. Where the same end is on its way to a plugin already, Teardown waits
// for that one.
//
// apply, if not nil, is then called with each reply that came, in the order of
// indices, and for one connection in that of events. Replies that come later, or
// for which apply is nil, go to Options.Unheard.
//
// The error says who rejected and, where that is the policy of a plugin, that it did not
// answer. It is for the log: the end of the object goes on in any case (L8).
//
// From a Remove on, connections that join are not told of the object any more,
// though the runtime may list it for a while.
func (e *Engine) Teardown(ctx context.Context, events []Event, apply func(Connection, Event, any)) error {
	for _, ev := range events {
		if !ev.Kind.Final() {
			return fmt.Errorf("%s is not an end", ev)
		}
	}
	if len(events) == 0 {
		return nil
	}
	r := &round{ctx: context.WithoutCancel(ctx), events: events, collect: apply != nil}
	var lanes []*lane
	lanes, r.orphans = e.abort(events)
	var parts []*part
	for _, l := range lanes {
		if p := l.post(r); p != nil {
			parts = append(parts, p)
		}
	}
	errs := e.await(r, parts)
	if r.urgent {
		e.records.Store.Sync()
	}
	for _, p := range parts {
		if p.round == r {
			for _, a := range p.answers {
				apply(a.conn, a.event, a.reply)
			}
		}
	}
	return errors.Join(errs...)
}

// await waits for parts, together no longer than TeardownWait.
func (e *Engine) await(r *round, parts []*part) (errs []error) {
	var bound <-chan time.Time
	wait := e.opts.TeardownWait()
	// The last was posted last: when it is done, most of the others are.
	for _, p := range slices.Backward(parts) {
		settled := p.unsettled()
		if settled == nil {
			continue
		}
		if bound == nil {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			bound = timer.C
		}
		select {
		case <-settled:
		case <-bound:
			bound = closed
		}
	}
	for _, p := range parts {
		errs = append(errs, p.leave(r, wait)...)
	}
	return errs
}

// closed stands for a time that has passed.
var closed = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

// abort enters ends, stops the creations that they end, and returns the
// lanes to tell. All that is one instant for
// those who join: they find the object ended, or get the ends in their lane.
func (e *Engine) abort(events []Event) (lanes []*lane, orphans map[string]Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ev := range events {
		e.ended.enter(ev)
		if ev.Kind.Removal() {
			if gone, ok := e.removed.add(ev.ID()); ok {
				e.ended.gone(gone)
			}
		}
		if ev.Container == "" {
			delete(e.agreed, ev.Pod)
		}
	}
	return e.lanes, e.cutShort(events)
}

// cutShort stops the creations that are ended, and returns of those that all agreed to, and
// that go with their pod before the runtime has them, the CreateContainer by their id: it
// hands in no end of theirs. Of others the request may still be changing. mu is held.
func (e *Engine) cutShort(events []Event) (orphans map[string]Event) {
	for o, c := range e.creations {
		for _, ev := range events {
			if !c.event.EndsWith(ev) {
				continue
			}
			c.aborted.Store(true)
			e.change()
			if o == ev.ID() || ev.Kind.Removal() {
				delete(e.creations, o)
			}
			if o.Container != "" && c.sealed {
				if orphans == nil {
					orphans = make(map[string]Event)
				}
				orphans[o.Container] = c.event
			}
		}
	}
	return orphans
}

// A round is one Teardown.
type round struct {
	ctx     context.Context
	events  []Event
	orphans map[string]Event
	collect bool // whether its caller wants the replies
	urgent  bool // whether what is kept has to be safe before that goes on
}

// last is the event that the round is there for.
func (r *round) last() *Event { return &r.events[len(r.events)-1] }

// implied returns an event that a connection has to be told before goal, with a
// request.
func (e *Engine) implied(r *round, ev, goal Event) Event {
	of, orphan := r.orphans[ev.Container]
	if !orphan {
		of = goal
	}
	ev.Request = e.opts.ImpliedEnd(ev.Kind, ev.Container, of)
	return ev
}
