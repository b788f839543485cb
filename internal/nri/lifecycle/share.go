// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"slices"
	"time"
)

type shareKey struct{}

// Share returns how much time a plugin should take for an event, so that those that are asked after
// it have as much (L28). It is for the context that Deliver receives. It is zero if the caller
// has time for the timeouts of all of them. The engine does not cut a plugin that takes more.
func Share(ctx context.Context) time.Duration {
	of, _ := ctx.Value(shareKey{}).(time.Duration)
	return of
}

// timeouts returns for each lane the timeout of its plugin, or zero if that will not be asked. It
// returns nil if the caller has no deadline.
func (q *question) timeouts(lanes []*lane) []time.Duration {
	if q.deadline.IsZero() {
		return nil
	}
	all := make([]time.Duration, len(lanes))
	for i, l := range lanes {
		l.mu.Lock()
		if s := l.session; s != nil && s.subscribed(q.event.Kind) && !l.overdue() {
			all[i] = s.requestTimeout(&q.engine.opts)
		}
		l.mu.Unlock()
	}
	return all
}

// withShare returns the context of a request to a plugin, with its share of the time that is left.
func (q *question) withShare(s *session) context.Context {
	if q.deadline.IsZero() {
		return q.ctx
	}
	timeout := s.requestTimeout(&q.engine.opts)
	of := share(time.Until(q.deadline), timeout, q.rest)
	if of <= 0 || of >= timeout {
		return q.ctx
	}
	return context.WithValue(q.ctx, shareKey{}, of)
}

// share returns how much of the time that is left is for a plugin with this timeout. Those with the
// rest of the timeouts have as much, and none has more than its timeout. The last needs no share.
func share(left, timeout time.Duration, rest []time.Duration) time.Duration {
	var needed time.Duration
	for _, t := range rest {
		needed += t
	}
	if needed == 0 || timeout+needed <= left {
		return timeout
	}
	all := append([]time.Duration{timeout}, rest...)
	slices.Sort(all)
	for i, t := range all {
		each := left / time.Duration(len(all)-i)
		if t > each {
			return min(timeout, each)
		}
		left -= t
	}
	return timeout
}
