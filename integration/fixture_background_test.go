// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// withinMoments bounds what needs moments on a runtime that does not make it wait
// for what the test holds up, which takes longer than any such bound.
func withinMoments(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// inBackground runs f in the background. How it ended comes from the channel.
func inBackground(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// isOpen tells whether what runs in the background goes on, or a channel is not closed.
func isOpen[T any](done <-chan T) bool {
	select {
	case <-done:
		return false
	default:
		return true
	}
}

// requireEnds waits for the end of what runs in the background, and returns how it
// ended. It fails if that takes longer than moments.
func requireEnds(t require.TestingT, done <-chan error, what string) error {
	select {
	case err := <-done:
		return err
	case <-time.After(5 * time.Second):
		require.FailNow(t, what+" goes on")
		return nil
	}
}

// connectInBackground connects a plugin, for which it has as long as ctx.
func connectInBackground(ctx context.Context, t *testing.T, n target, p *plugin.Plugin) <-chan error {
	t.Helper()
	t.Cleanup(p.Crash)
	return inBackground(func() error { return p.Connect(ctx, n.NRISocket()) })
}

// newGate makes a gate that is released at the end of the test at the latest.
func newGate(t *testing.T) *plugin.Gate {
	t.Helper()
	gate := plugin.NewGate()
	t.Cleanup(gate.Release)
	return gate
}
