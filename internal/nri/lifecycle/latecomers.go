// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"
)

// Plugins that come in while a creation is under way are asked, too (L2). Together they cost it a
// bound (L22): asking them takes one request timeout in all, their time in line included, and the one
// that is asked last has its own for its answer. Who is not asked then is told late. One whose answer is
// demanded is asked all the same: see chances.

// mayPassOver says whether a creation goes on without the answer of a connection.
func (q *question) mayPassOver(l *lane) bool { return q.creation != nil && !q.demanded(l) }

// toldLate says why a connection is told late of a creation, and not asked. It is nil if it is asked.
func (q *question) toldLate(l *lane, s *session) error {
	q.late = q.mayPassOver(l) && q.creation.precedes(q.engine, s)
	switch {
	case !q.mayPassOver(l):
		return nil
	case q.creation.returned(l, s):
		return errReturned
	case q.late && q.left() <= 0:
		return errTooLate
	}
	return nil
}

// left is how long connections that have come in since may still be asked.
func (q *question) left() time.Duration { return q.engine.opts.RequestTimeout() - q.creation.spent }

// spend begins to count how long a connection is asked that has come in since, and returns what ends
// that. The time that its Synchronize takes is not counted: see patience.
func (q *question) spend(l *lane, s *session) func() {
	if !q.late {
		return func() {}
	}
	c, start := q.creation, time.Now()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if s.joined {
			c.spent += min(time.Since(start), time.Since(s.synced))
		}
	}
}

// returned says whether the plugin has another connection now than when it was asked: it is
// told late. One that is asked twice of one container makes its adjustment twice, and one that
// hangs and comes back could hold up a creation for ever (L22).
func (c *creation) returned(l *lane, s *session) bool {
	return slices.ContainsFunc(c.asked, func(a asked) bool {
		return a.session != s && (a.lane == l || a.lane.name == l.name && c.precedes(l.engine, s))
	})
}

// precedes says whether a connection has come in since the creation began: it was listed for
// later, or is still to be.
func (c *creation) precedes(e *Engine, s *session) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return s.seq == 0 || s.seq > c.begun
}

// latecomers returns the lanes of plugins that are told late of a creation when the runtime has
// it. These are plugins that have come in and were not asked, whether or not their Synchronize
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
