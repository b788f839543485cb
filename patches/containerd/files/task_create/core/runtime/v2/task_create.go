// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"time"
)

// seeThrough calls a shim and waits for its answer, for a while also when ctx
// has ended. What a shim has begun can be undone only when it is done with it.
// If ctx ended, that is the error, whatever the shim answered.
func seeThrough[In, Out any](ctx context.Context, grace time.Duration, in In, call func(context.Context, In) (Out, error)) (Out, error) {
	waiting, done := linger(ctx, grace)
	defer done()
	out, err := call(waiting, in)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}
