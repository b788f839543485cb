// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"time"
)

// A connection is overdue while it has not answered a request whose timeout has passed, and
// its policy keeps it connected. It receives nothing else (L4), and no caller waits for it, so
// that it costs the node one timeout and not one for each pod (L22): requests skip it or fail
// at once, by its policy. The ends of what it knows, and the first events that it missed,
// wait in order for its answer, within the limits of its backlog.

// fallBehind makes the connection overdue, and returns the callers to release. l.mu is held.
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
		l.hold.grant() // it receives nothing else
	}
	if r.session.policy.Permanent {
		return passed
	}
	r.timer = time.AfterFunc(l.engine.opts.OverdueLimit, func() {
		l.engine.drop(r.session, fmt.Errorf("%w: %w", ErrBacklog, l.overdueOn(r)))
	})
	return passed
}

// overdue reports whether the connection is overdue. l.mu is held.
func (l *lane) overdue() bool { return l.current != nil && l.current.kept && !l.current.answered }

// overdueError returns why an overdue connection is not asked. l.mu is held.
func (l *lane) overdueError() error { return l.overdueOn(l.current) }

func (l *lane) overdueOn(r *request) error { return &Overdue{r.event, time.Since(r.sent)} }

// missedEvent delivers a pod or container to a connection that was not asked for it: it was
// skipped, or joined too late. No caller waits for that, and the plugin cannot reject or adjust
// anything (L2).
func (l *lane) missedEvent(c *creation) {
	ev := c.event
	ev.Late = true
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.session
	if s == nil || c.undone() { // if undone, its end is in the lane, and ends nothing
		return
	}
	full := l.push(entry{late: &ev, weight: l.engine.opts.Weigh(ev)})
	l.resume()
	if full != nil {
		l.mu.Unlock()
		l.engine.drop(s, full)
		l.missedEvent(c) // for the successor, if there is one
		l.mu.Lock()
	}
}

// catchUp sends an event for which no caller waits, if it must still be delivered, and reports
// whether it was sent and has no answer yet. The caller holds the turn and l.mu; l.mu is released in
// between.
func (l *lane) catchUp(ev Event) (sent bool) {
	if !ev.Kind.First() && l.engine.updates.postpone(ev, l.session) {
		return false
	}
	if !l.ledger.AdmitLate(ev) || !l.session.subscribed(ev.Kind) {
		return false
	}
	r := &request{Context: l.engine.ctx, event: ev, posted: time.Now()}
	return !l.transmit(r) || !l.conclude(r)
}

// collapse takes events for which no caller waits out of the line if their objects end: the plugin
// need not receive an object that began and ended meanwhile. A first event that the plugin does not want stays,
// because the plugin receives its end. It is taken out if the name knows the object from an
// earlier connection: else the object would begin again after the missed ends. l.mu is held.
func (l *lane) collapse(ends []Event) {
	l.line.remove(func(e entry) bool {
		if e.late == nil || !slices.ContainsFunc(ends, e.late.EndsWith) {
			return false
		}
		return !e.unwanted || !l.session.joined && l.ledger.Knows(e.late.ID())
	})
}
