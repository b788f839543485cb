// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"
)

// Plugins that come in while a creation is under way are asked, too (L2). Together they cost it a
// bound (L22): their answers, and what they are at before, may take one request timeout in all, and the one
// that is asked last has its own. After that they are skipped. One whose answer is demanded is asked all the same: see
// chances. A connection that has the place of one that was to be asked is no latecomer.

// comesLate notes the lane of a connection that is to be asked, and that was listed for after the
// creation began.
func (c *creation) comesLate(l *lane, s *session) {
	if s.seq > c.begun && !c.isLate(l) {
		c.late = append(c.late, l)
	}
}

func (c *creation) isLate(l *lane) bool { return slices.Contains(c.late, l) }

// passesOver says why a connection is skipped. It is nil if it is asked.
func (q *question) passesOver(l *lane, s *session) error {
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

// putInTime puts the event to the plugin of a lane. Of a latecomer it counts the time, but for that in which it was
// still to be synchronized.
func (q *question) putInTime(l *lane) (*session, any, error) {
	if c := q.creation; c != nil && c.isLate(l) && !q.demanded(l) {
		start, joining := time.Now(), q.waited
		defer func() { c.spent += time.Since(start) - (q.waited - joining) }()
	}
	return q.put(l)
}

// returned says whether the plugin has another connection now than when it was asked: that one
// receives the event late. One that is asked twice of one container makes its adjustment twice, and one that
// hangs and comes back could hold up a creation for ever (L22).
func (c *creation) returned(l *lane, s *session) bool {
	return slices.ContainsFunc(c.asked, func(a asked) bool {
		return a.session != s && (a.lane == l || a.lane.name == l.name && c.isLate(l))
	})
}

// latecomers returns the lanes of plugins that receive the event of a creation late, when the
// runtime has it. These are plugins that have come in and were not asked, whether or not their Synchronize
// has it, and successors of plugins that were asked. mu is held.
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
