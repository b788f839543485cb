// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The network of a pod was replaced, and its plugins never succeed again. The time
// that its DEL is retried goes on while the runtime is away.
func TestN3_PatienceWithAReplacedNetworkGoesOnOverARestart(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Second
	a := newAgent(t, "del_patience = '2s'")
	pod := a.RunPod("web")
	ip := a.AddressesTaken("blue")[0]
	a.LoadNetwork("green", "10.90.0.0/24")
	a.Says("DEL", fails)
	errFirst := a.n.CRI().StopPod(withinAMinute(t), pod)
	failed := time.Now()
	promise(t, "N3", "a pod whose DEL fails is kept, and its stop says why", keptOnStock, func(t require.TestingT) {
		assert.ErrorContains(t, errFirst, "out of luck")
	})
	require.NoError(t, a.n.Kill(withinAMinute(t)))
	<-time.After(patience - time.Since(failed))
	require.NoError(t, a.n.Boot(withinAMinute(t)))
	requireSoon(a, "the other network to be loaded", func(ctx context.Context) error { return a.HasLoaded(ctx, "green") })

	promise(t, "N3", "it ends with the first stop after the restart", onStock("it cannot be stopped"), func(t require.TestingT) {
		a.RequirePodEnds(t, pod)
	})
	promise(t, "N3", "the log says what it may have leaked", onStock("it does not"), func(t require.TestingT) {
		log, err := a.n.Log()
		require.NoError(t, err)
		assert.Contains(t, log, "its addresses ["+ip+"] may have leaked")
		assert.Contains(t, log, "out of luck")
	})
}
