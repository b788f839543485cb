// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"time"
)

// Await waits for the disconnected plugins that a first event requires. A runtime calls it
// before it makes anything, so that it holds no resources meanwhile. Await fails with an Unmet
// error as Ask does, and no plugin receives anything. A connected plugin has not approved yet
// (L20), so Ask waits again. If Ask receives the context that Await returns, which is
// derived from ctx, both together wait no longer than the Requirement allows.
func (e *Engine) Await(ctx context.Context, ev Event) (context.Context, error) {
	if !ev.Kind.First() {
		return ctx, fmt.Errorf("%s is not a first event", ev)
	}
	demands, err := e.demands(ctx, ev)
	if err != nil || len(demands) == 0 {
		return ctx, err
	}
	c := &creation{event: ev, since: time.Now(), demands: demands}
	if err := e.enterCreation(c); err != nil {
		return ctx, fmt.Errorf("%s: %w", ev, err)
	}
	defer e.removeCreation(c)
	bound, cancel := e.withUndo(ctx)
	defer cancel()
	q := question{engine: e, ctx: bound, event: ev, creation: c}
	if err := q.await(); err != nil {
		return ctx, err
	}
	waited := make(awaited, len(demands))
	for _, d := range demands {
		waited[d.Plugin] = d.waited
	}
	return context.WithValue(ctx, awaitedKey{}, waited), nil
}

// awaited is how long a creation has waited for each plugin that it requires.
type awaited map[string]time.Duration

type awaitedKey struct{}

// awaitedIn returns how long Await has waited, nothing if it was not called.
func awaitedIn(ctx context.Context) awaited {
	waited, _ := ctx.Value(awaitedKey{}).(awaited)
	return waited
}
