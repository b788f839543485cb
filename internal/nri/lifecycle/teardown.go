// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Teardown delivers ends to the connections, in the order given: the caller passes the Stop of a
// pod after the Stops of its containers, and a Remove after its Stop. All connections that know
// the object receive them at the same time, whatever the others do (L9). A connection does not
// receive an end again (L11). If a connection must receive an end that is missing in events, the
// engine makes it, see Options.ImpliedEnd, and sends it in the right order.
//
// Teardown waits for all connections together, no longer than TeardownWait, and not for a
// connection that is overdue or not synchronized yet. It uses ctx only for its values:
// neither the wait nor the events end with ctx (L7). If a plugin has not answered by then,
// the events go on in order, and no caller waits for them. If an earlier Teardown is
// delivering the same end to a plugin, Teardown waits for that delivery.
//
// apply, if not nil, is then called with each reply, in the order of indices and, for one
// connection, of events. Later replies, and all replies if apply is nil, go to Options.Unheard.
//
// The error names the plugins that rejected an end and, if their policy says so, the plugins that
// did not answer. It is for the log: the end of the object goes on in any case (L8).
//
// After a Remove, a connection that joins does not receive the object, even if the runtime still
// lists it for a while.
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

// await waits for the parts of a round, together no longer than TeardownWait.
func (e *Engine) await(r *round, parts []*part) (errs []error) {
	var bound <-chan time.Time
	wait := e.opts.TeardownWait()
	// The last part was posted last: when it is done, most of the others are.
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

// closed is a closed channel: the timeout has passed.
var closed = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

// abort enters ends, stops the creations that they end, and returns the lanes to deliver them
// to, all in one instant: a connection that joins either finds the object ended, or
// receives the ends in its lane.
func (e *Engine) abort(events []Event) (lanes []*lane, orphans map[string]Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ev := range events {
		e.ended.enter(ev)
		e.updates.drop(ev)
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

// cutShort stops the creations whose pods or containers end. It returns, by container id, the
// CreateContainer of the sealed ones that end with their pod: the runtime does not have these
// containers yet, and submits no end for them. The requests of creations that are not sealed
// may still change. mu is held.
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
	urgent  bool // whether stored ends must be safe before its caller goes on
}

// last returns the last event of the round, which the others lead to.
func (r *round) last() *Event { return &r.events[len(r.events)-1] }

// implied returns an event that a connection must receive before goal, with a request.
func (e *Engine) implied(r *round, ev, goal Event) Event {
	of, orphan := r.orphans[ev.Container]
	if !orphan {
		of = goal
	}
	ev.Request = e.opts.ImpliedEnd(ev.Kind, ev.Container, of)
	return ev
}
