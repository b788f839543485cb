// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Wherever a creation is when the runtime is killed, the kubelet finds the pod
// not ready or not at all, and what it can remove is all that there is.
func TestL15_CreationThatWasCutIsUndoneWhereverItWas(t *testing.T) {
	for _, w := range waves {
		t.Run(w.name, w.killed)
	}
}

func (w wave) killed(t *testing.T) {
	c := newCreations(t, w)
	connect(t, c.n, c.plugins["first"], c.plugins["second"])
	promise(t, "L15", "pods whose creation was cut are not ready, and can be removed with all that they had", w.stock.killed, func(t require.TestingT) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		c.requireHeld(ctx, t)
		require.NoError(t, c.n.Kill(ctx))
		for _, held := range c.held {
			assert.Error(t, <-held.ran, held.pod())
		}
		c.release(t)
		require.NoError(t, c.n.Quiet(ctx))
		require.NoError(t, c.n.Boot(ctx))
		for _, p := range c.plugins {
			require.NoError(t, p.Connect(ctx, c.n.NRISocket()))
		}
		requireNoPodReady(ctx, t, c.n.CRI())
		removeAllPods(ctx, t, c.n.CRI())
		requireNothingLeft(t, c.n)
		c.requireEndsTold(t)
		c.requireRunAgain(t, c.n.CRI().RunPod)
		requireNothingLeft(t, c.n)
	})
}
