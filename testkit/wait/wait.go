// SPDX-License-Identifier: Apache-2.0

// Package wait waits for conditions, never for a time.
package wait

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// interval is how often a condition is checked.
const interval = 5 * time.Millisecond

// ErrPermanent ends the wait at once if the error of a condition wraps it.
var ErrPermanent = errors.New("cannot come true any more")

// Until calls holds until it returns nil. If ctx ends first, the error has the condition (what), the
// time that Until waited, and the last error of holds.
func Until(ctx context.Context, what string, holds func(context.Context) error) error {
	start := time.Now()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var last error
	for {
		err := holds(ctx)
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrPermanent) {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		// An error that comes from the deadline says less than the one before it. It may
		// come a little before the end of ctx.
		end, limited := ctx.Deadline()
		if last == nil || ctx.Err() == nil && (!limited || time.Until(end) > interval) {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w after %s: %w", what, ctx.Err(), time.Since(start).Round(time.Millisecond), last)
		case <-tick.C:
		}
	}
}
