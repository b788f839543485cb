// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"time"
)

// callWithGrace calls a shim and waits for its answer, for a grace period after ctx has ended. A
// call that has begun can be undone only when the shim has completed or abandoned it. The shim
// receives the deadline of ctx, by which some shims abandon the call themselves. If ctx has ended,
// that is the error, whatever the shim answered.
func callWithGrace[In, Out any](ctx context.Context, grace time.Duration, in In, call func(context.Context, In) (Out, error)) (Out, error) {
	if err := ctx.Err(); err != nil {
		var none Out
		return none, err
	}
	waiting, done := withGrace(ctx, grace)
	defer done()
	out, err := call(overdue{waiting, ctx}, in)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}

// overdue has the deadline of a caller, and goes on after it.
type overdue struct {
	context.Context
	caller context.Context
}

func (o overdue) Deadline() (time.Time, bool) { return o.caller.Deadline() }
