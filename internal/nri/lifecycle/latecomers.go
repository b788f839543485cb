// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "time"

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
