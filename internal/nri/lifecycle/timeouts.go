// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"context"
	"time"
)

// Timeouts are those of one plugin. Where they are zero, the engine's hold.
type Timeouts struct {
	Request time.Duration // see Options.RequestTimeout
	Sync    time.Duration // see Options.SyncTimeout
}

// requestTimeout is how long the plugin may take for one event.
func (s *session) requestTimeout(o *Options) time.Duration {
	return cmp.Or(s.timeouts.Request, o.RequestTimeout())
}

// syncTimeout is how long it may take for its Synchronize.
func (s *session) syncTimeout(o *Options) time.Duration {
	return cmp.Or(s.timeouts.Sync, o.SyncTimeout())
}

// announced is the time until which the plugin is told to answer: its timeout or,
// if that is earlier, when its caller waits no longer. A plugin that is cut short by
// its caller has not timed out (L16).
func (r *request) announced() time.Time {
	if at, ok := r.Context.Deadline(); ok && at.Before(r.due) {
		return at
	}
	return r.due
}

// withUndo bounds a creation by the deadline of its caller, if there is one, and
// keeps time back for the undo: a caller who has gone away hears nothing of why the
// creation failed. That is a TeardownWait each for a Stop and a Remove, and a
// quarter of the time at most.
func (e *Engine) withUndo(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-min(2*e.opts.TeardownWait(), time.Until(deadline)/4)))
}
