// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"context"
	"time"
)

// Timeouts are the timeouts of one plugin. Where one is zero, the engine's applies.
type Timeouts struct {
	Request time.Duration // see Options.RequestTimeout
	Sync    time.Duration // see Options.SyncTimeout
}

// requestTimeout is how long the plugin may take for one event.
func (s *session) requestTimeout(o *Options) time.Duration {
	return cmp.Or(s.timeouts.Request, o.RequestTimeout())
}

// syncTimeout is how long the plugin may take for its Synchronize.
func (s *session) syncTimeout(o *Options) time.Duration {
	return cmp.Or(s.timeouts.Sync, o.SyncTimeout())
}

// announced is the deadline that the plugin receives: its timeout or, if that is earlier, the
// deadline of the caller. A plugin whose caller stops waiting has not timed out (L16).
func (r *request) announced() time.Time {
	if at, ok := r.Context.Deadline(); ok && at.Before(r.due) {
		return at
	}
	return r.due
}

// withUndo returns a context for a creation that ends before the deadline of its caller, if
// there is one. The rest is left for the roll-back, so that the caller still receives the error:
// two TeardownWaits, for a Stop and a Remove, and a quarter of the time at most.
func (e *Engine) withUndo(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-min(2*e.opts.TeardownWait(), time.Until(deadline)/4)))
}
