// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// Each round kills the runtime after a number of CRI calls, during others, and afterwards ends all
// pods that the runtime finds.
func TestL15_EndsAreDeliveredThoughTheRuntimeIsKilledUnderLoad(t *testing.T) {
	t.Parallel()
	const rounds, workers = 4, 4
	n := StartNode(t)
	plugins := []*plugin.Plugin{plugin.New("10", "first"), plugin.New("20", "second")}
	load := NewWorkload(n.CRI())
	random := rand.New(rand.NewPCG(1, 5))
	var unended []string
	Connect(t, n, plugins...)
	for round := range rounds {
		killAt := int64(workers + random.IntN(50))
		t.Logf("round %d: killed at call %d", round, killAt)
		killed := make(chan error, 1)
		var calls atomic.Int64
		load.Step = func() {
			if calls.Add(1) == killAt {
				go func() { killed <- n.Kill(WithinAMinute(t)) }()
			}
		}
		var all sync.WaitGroup
		for worker := range workers {
			all.Go(func() {
				// It goes on until the runtime has ended.
				for i := 0; load.Lead(WithinAMinute(t), fmt.Sprintf("r%d-w%d-%d", round, worker, i), i) == nil; i++ {
				}
			})
		}
		all.Wait()
		require.GreaterOrEqual(t, calls.Load(), killAt, "the runtime failed before it was killed")
		require.NoError(t, <-killed)

		require.NoError(t, n.Boot(WithinAMinute(t)))
		Connect(t, n, plugins...)
		EndAllPods(t, n, load)
		for _, p := range plugins {
			for _, alive := range leftAlive(t, p) {
				unended = append(unended, fmt.Sprintf("%s in round %d: %s", p.Name(), round, alive))
			}
		}
	}
	NewLife(t, n, "afterwards").End(t)
	Promise(t, "L15", "a plugin that joins after a kill receives the end of all pods that the runtime finds", OnStock("the ends are not delivered"), func(t require.TestingT) {
		assert.Empty(t, unended, "pods and containers whose end was not delivered")
	})
	Promise(t, "L15", "each connection receives each pod and container in order and once", OnStock("ends of earlier pods are not delivered"), func(t require.TestingT) {
		for _, p := range plugins {
			load.RequireContractKeptOver(t, p.Name(), WithoutUnsent(t, p.Calls().Connections()))
		}
	})
}

// leftAlive returns the pods and containers whose end a plugin has not received. A teardown does
// not wait for a plugin that is still joining (L13): such a plugin receives it soon after.
func leftAlive(t *testing.T, p *plugin.Plugin) (alive []string) {
	_ = wait.Until(WithinAMinute(t), "all ends to be delivered", func(context.Context) error {
		alive = history.ReadLast(p.Calls().Connections(), nil).Alive()
		if len(alive) > 0 && !RunsOnStock {
			return fmt.Errorf("%d are not delivered", len(alive))
		}
		return nil
	})
	return alive
}
