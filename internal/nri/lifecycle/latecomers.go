// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"
)

// Latecomers are plugins that register while a creation is under way. They are asked, too (L2).
// Their cost is bounded (L22): their answers, and the requests that they answer before, may take
// one request timeout in all, and the last one asked has a timeout of its own. Later ones are
// skipped, except if their answer is demanded: see chances. A connection that replaces one that
// was to be asked is no latecomer.

// comesLate marks the lane of a connection that will be asked as a latecomer, if its
// inventory was taken after the creation began.
func (c *creation) comesLate(l *lane, s *session) {
	if s.seq > c.begun && !c.isLate(l) {
		c.late = append(c.late, l)
	}
}

func (c *creation) isLate(l *lane) bool { return slices.Contains(c.late, l) }

// skips returns why a connection is skipped, nil if it is asked.
func (q *question) skips(l *lane, s *session) error {
	c := q.creation
	switch {
	case c == nil || q.demanded(l):
		return nil
	case c.returned(l, s):
		return errReturned
	case c.isLate(l) && c.spent >= q.engine.opts.RequestTimeout():
		return errTooLate
	}
	return nil
}

// putInTime sends the event to the plugin of a lane. For a latecomer it counts the time that this
// takes, except the time in which the plugin was not synchronized yet.
func (q *question) putInTime(l *lane) (*session, any, error) {
	if c := q.creation; c != nil && c.isLate(l) && !q.demanded(l) {
		start, joining := time.Now(), q.waited
		defer func() { c.spent += time.Since(start) - (q.waited - joining) }()
	}
	return q.put(l)
}

// returned reports whether the plugin has another connection than when it was asked. The new one
// receives the event late: if a plugin were asked twice it would adjust a container twice, and
// if it hangs and comes back it could block a creation forever (L22).
func (c *creation) returned(l *lane, s *session) bool {
	return slices.ContainsFunc(c.asked, func(a asked) bool {
		return a.session != s && (a.lane == l || a.lane.name == l.name && c.isLate(l))
	})
}

// latecomers returns the lanes of plugins that receive a creation late, when the runtime has it:
// plugins that were not asked, even if it is in their Synchronize, and successors of plugins that
// were asked. mu is held.
func (e *Engine) latecomers(c *creation) (late []*lane) {
	for _, l := range e.askable {
		if !c.has(l, l.session) {
			late = append(late, l)
		}
	}
	for _, s := range e.listing {
		late = append(late, s.lane)
	}
	for _, l := range e.lanes {
		if l.next != nil {
			late = append(late, l)
		}
	}
	return late
}
