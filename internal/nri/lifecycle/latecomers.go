// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"
)

// Plugins that come in while a creation is under way are asked, too (L2), and together cost it a
// bound (L22): asking them takes one request timeout in all, and the one that is asked last has its
// own. Who comes then is told late. Those whose answer the same demand waits for have a bound of
// their own, so that others do not take the time of a required plugin. When that is over, the
// demand is not met.

// isLate says why a connection is told late of a creation, and not asked. It is nil if it is asked.
func (q *question) isLate(l *lane, s *session) error {
	switch {
	case q.creation == nil:
		return nil
	case q.creation.returned(l, s) && !q.demanded(l):
		return errReturned
	case q.tooLate(l, s):
		return errTooLate
	}
	return nil
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

// tooLate says whether a connection has come in since the creation began, and others have had the time.
func (q *question) tooLate(l *lane, s *session) bool {
	return q.exhausted(*q.spent(l)) && q.creation.precedes(q.engine, s)
}

func (q *question) exhausted(spent time.Duration) bool {
	return spent > 0 && spent >= q.engine.opts.RequestTimeout()
}

// spent is how long connections like that of a lane were asked that have come in since.
func (q *question) spent(l *lane) *time.Duration {
	for _, d := range q.creation.demands {
		if !d.met && d.means(l) {
			return &d.spent
		}
	}
	return &q.creation.spent
}

// spend begins to count how long a connection is asked, and returns what ends that. The time that
// its Synchronize takes is not counted: see patience and Requirement.Wait.
func (q *question) spend(l *lane, s *session) func() {
	if c := q.creation; c == nil || !c.joined || !c.precedes(q.engine, s) {
		return func() {}
	}
	spent, start := q.spent(l), time.Now()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if s.joined {
			*spent += min(time.Since(start), time.Since(s.synced))
		}
	}
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
