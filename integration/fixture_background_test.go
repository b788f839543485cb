// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/require"
)

// moments bounds what needs moments on a runtime that does not make it wait
// for what the test holds up, which takes longer than any such bound.
func moments(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// begin runs f in the background. How it ended comes from the channel.
func begin(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// open tells whether what begin began goes on, or a channel is not closed.
func open[T any](done <-chan T) bool {
	select {
	case <-done:
		return false
	default:
		return true
	}
}

// soon is how what begin began ended. It must not take longer than moments.
func soon(t require.TestingT, done <-chan error, what string) error {
	select {
	case err := <-done:
		return err
	case <-time.After(5 * time.Second):
		require.FailNow(t, what+" goes on")
		return nil
	}
}

// join begins to connect a plugin, which may take as long as ctx.
func join(ctx context.Context, t *testing.T, n *node.Node, p *plugin.Plugin) <-chan error {
	t.Helper()
	t.Cleanup(p.Crash)
	return begin(func() error { return p.Connect(ctx, n.NRISocket()) })
}

// hold makes a gate that is released at the end of the test at the latest.
func hold(t *testing.T) *plugin.Gate {
	t.Helper()
	gate := plugin.NewGate()
	t.Cleanup(gate.Release)
	return gate
}
