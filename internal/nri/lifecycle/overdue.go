// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"time"
)

// A connection is overdue while it is overdue to a request whose timeout
// has passed and its policy keeps it. It is sent nothing else (L4), and nobody
// waits for it, so that it costs the node one timeout and not one for each pod
// (L22): requests skip it or fail at once, by its policy. The ends of what
// it knows, and the beginnings that it missed, wait for its answer in order,
// within the bounds of its backlog.

// fallBehind makes the connection overdue, and returns the callers to let go.
// l.mu is held.
func (l *lane) fallBehind(r *request) (passed []*caller) {
	r.kept = true
	late := l.overdueOn(r)
	if r.part != nil {
		r.part.pass(late)
	}
	passed = l.line.callers()
	for _, c := range passed {
		c.err = late
	}
	for _, e := range l.line.entries {
		if e.part != nil {
			e.part.pass(late)
		}
	}
	if l.hold != nil {
		l.hold.grant() // nothing else is sent to it
	}
	if r.session.policy.Permanent {
		return passed
	}
	r.timer = time.AfterFunc(l.engine.opts.OverdueLimit, func() {
		l.engine.drop(r.session, fmt.Errorf("%w: %w", ErrBacklog, l.overdueOn(r)))
	})
	return passed
}

// overdue says whether the connection is overdue. l.mu is held.
func (l *lane) overdue() bool { return l.current != nil && l.current.kept && !l.current.answered }

// overdueError is why an overdue connection is not asked. l.mu is held.
func (l *lane) overdueError() error { return l.overdueOn(l.current) }

func (l *lane) overdueOn(r *request) error { return &Overdue{r.event, time.Since(r.sent)} }

// missedEvent sees to it that the connection is told of a pod or container
// that it was not asked for: it was skipped, or joined when the creation
// could not wait any more. Nobody waits for that, and the plugin cannot reject
// or adjust anything (L2).
func (l *lane) missedEvent(c *creation) {
	ev := c.event
	ev.Late = true
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.session
	if s == nil || c.undone() { // its end is in the lane, and will find nothing
		return
	}
	full := l.push(entry{missed: &ev, weight: l.engine.opts.Weigh(ev)})
	l.resume()
	if full != nil {
		l.mu.Unlock()
		l.engine.drop(s, full)
		l.missedEvent(c) // for the successor, if there is one
		l.mu.Lock()
	}
}

// catchUp tells of an event that was missed, if it is still to be told, and
// says whether that was sent and not yet answered. The caller holds the turn,
// and l.mu, though that not throughout.
func (l *lane) catchUp(ev Event) (sent bool) {
	if !l.ledger.AdmitLate(ev) || !l.session.subscribed(ev.Kind) {
		return false
	}
	r := &request{Context: l.engine.ctx, event: ev, posted: time.Now()}
	return !l.transmit(r) || !l.conclude(r)
}

// collapse takes first events out of the line if the events end what they began. What began and
// ended meanwhile need not be told. Of what the plugin did not want to be told it gets the end; but
// what its name knows, as one before it was asked, too, would begin again behind the ends that
// it has missed. l.mu is held.
func (l *lane) collapse(ends []Event) {
	l.line.remove(func(e entry) bool {
		if e.missed == nil || !slices.ContainsFunc(ends, e.missed.EndsWith) {
			return false
		}
		return !e.unwanted || !l.session.joined && l.ledger.Knows(e.missed.ID())
	})
}
