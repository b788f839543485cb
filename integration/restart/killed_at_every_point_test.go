// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// At whatever step of a creation the runtime is killed, the kubelet finds the pod not ready or not
// at all, and nothing is left that it cannot remove.
func TestL15_CreationThatWasCutIsUndoneWhereverItWas(t *testing.T) {
	t.Parallel()
	for _, w := range Waves {
		t.Run(w.Name, func(t *testing.T) { killed(t, w) })
	}
}

func killed(t *testing.T, w Wave) {
	c := NewCreations(t, w)
	Connect(t, c.N, c.Plugins["first"], c.Plugins["second"])
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	Promise(t, "L14", "pods reach the steps at which they are held", w.Stock.Killed.Held, func(t require.TestingT) { c.RequireHeld(ctx, t) })
	require.NoError(t, c.N.Kill(ctx))
	for _, held := range c.Held {
		require.Error(t, <-held.Ran, held.Pod())
	}
	c.Release(t)
	require.NoError(t, c.N.Quiet(ctx))
	require.NoError(t, c.N.Boot(ctx))
	for _, p := range c.Plugins {
		require.NoError(t, p.Connect(ctx, c.N.NRISocket()))
	}
	Promise(t, "L15", "pods whose creation was interrupted are not Ready after a restart", w.Stock.Killed.Ready, func(t require.TestingT) {
		RequireNoPodReady(ctx, t, c.N.CRI())
	})
	RemoveAllPods(ctx, t, c.N.CRI())
	Promise(t, "L15", "nothing is left of them once they are removed", w.Stock.Killed.Left, func(t require.TestingT) { RequireNothingLeft(t, c.N) })
	Promise(t, "L15", "plugins receive their end", w.Stock.Killed.Delivered, Eventually(func(t require.TestingT) { c.RequireEndsDelivered(t) }))
	Promise(t, "L15", "they can be created again at once", w.Stock.Killed.Again, func(t require.TestingT) {
		c.RequireRunAgain(t, c.N.CRI().RunPod)
		RequireNothingLeft(t, c.N)
	})
}
