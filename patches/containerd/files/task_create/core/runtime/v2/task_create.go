// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"time"
)

// callWithGrace calls a shim and waits for its answer, for a grace period also when
// ctx has ended: what a shim has begun can be undone only when it is complete. If ctx
// ended, that is the error, whatever the shim answered.
func callWithGrace[In, Out any](ctx context.Context, grace time.Duration, in In, call func(context.Context, In) (Out, error)) (Out, error) {
	waiting, done := withGrace(ctx, grace)
	defer done()
	out, err := call(waiting, in)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}
