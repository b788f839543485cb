// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Wherever a creation is when the runtime is killed, the kubelet finds the pod
// not ready or not at all, and what it can remove is all that there is.
func TestL15_CreationThatWasCutIsUndoneWhereverItWas(t *testing.T) {
	t.Parallel()
	for _, w := range waves {
		t.Run(w.name, w.killed)
	}
}

func (w wave) killed(t *testing.T) {
	c := newCreations(t, w)
	connect(t, c.n, c.plugins["first"], c.plugins["second"])
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	promise(t, "L14", "pods get to where they are held", w.stock.killed.held, func(t require.TestingT) { c.requireHeld(ctx, t) })
	require.NoError(t, c.n.Kill(ctx))
	for _, held := range c.held {
		require.Error(t, <-held.ran, held.pod())
	}
	c.release(t)
	require.NoError(t, c.n.Quiet(ctx))
	require.NoError(t, c.n.Boot(ctx))
	for _, p := range c.plugins {
		require.NoError(t, p.Connect(ctx, c.n.NRISocket()))
	}
	promise(t, "L15", "pods whose creation was cut are not ready after a restart", w.stock.killed.ready, func(t require.TestingT) {
		requireNoPodReady(ctx, t, c.n.CRI())
	})
	removeAllPods(ctx, t, c.n.CRI())
	promise(t, "L15", "nothing is left of them once they are removed", w.stock.killed.left, func(t require.TestingT) { requireNothingLeft(t, c.n) })
	promise(t, "L15", "plugins are told of their end", w.stock.killed.told, eventually(func(t require.TestingT) { c.requireEndsTold(t) }))
	promise(t, "L15", "they can be created again at once", w.stock.killed.again, func(t require.TestingT) {
		c.requireRunAgain(t, c.n.CRI().RunPod)
		requireNothingLeft(t, c.n)
	})
}
