// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"time"
)

// Await waits for the plugins that a first event requires and that are disconnected, before
// anything is made that would be held meanwhile: it fails with an Unmet error as Ask
// does, and nobody is told. That a plugin is there is not its word (L20), so Ask looks
// again. Both together wait no longer than the Requirement says if Ask is given the
// context that Await returns, which is ctx but for that.
func (e *Engine) Await(ctx context.Context, ev Event) (context.Context, error) {
	if !ev.Kind.First() {
		return ctx, fmt.Errorf("%s is no first event", ev)
	}
	demands, err := e.demands(ctx, ev)
	if err != nil || len(demands) == 0 {
		return ctx, err
	}
	c := &creation{event: ev, since: time.Now(), demands: demands}
	if err := e.conceive(c); err != nil {
		return ctx, fmt.Errorf("%s: %w", ev, err)
	}
	defer e.forgo(c)
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

// awaitedIn returns what was waited before, nothing if Await was not called.
func awaitedIn(ctx context.Context) awaited {
	waited, _ := ctx.Value(awaitedKey{}).(awaited)
	return waited
}
