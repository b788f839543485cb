// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// The pauses before a plugin connects again. The longest one is short: pods may start without the plugin
// meanwhile, or wait for it.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)

// pauses grow with each connection that was of no use.
type pauses struct{ backoff.ExponentialBackOff }

func newPauses(longest time.Duration) *pauses {
	p := &pauses{*backoff.NewExponentialBackOff()}
	p.InitialInterval, p.MaxInterval = shortestPause, longest
	p.Reset()
	return p
}

// next returns the pause after a connection that has served the plugin for a time. They begin anew after
// one that lasted, not after each that was synchronized: a plugin may break at its first event.
func (p *pauses) next(served time.Duration) time.Duration {
	if served > longestPause {
		p.Reset()
	}
	return p.NextBackOff()
}

// sleep ends with ctx, too.
func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
