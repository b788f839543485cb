// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// killedRounds is the variable that sets how often the runtime and its plugins are killed.
const killedRounds = "HOOKLINE_KILLED_ROUNDS"

// In each round pods are created and removed, one of three plugins is killed and reconnects before
// or after the runtime is killed, and the runtime is killed during calls.
func TestL18_NothingIsLostThoughAllAreKilledByTurns(t *testing.T) {
	t.Parallel()
	const workers = 4
	rounds := CountFrom(t, killedRounds, 3)
	n := StartNode(t)
	slow := map[plugin.Event]plugin.Answer{
		plugin.RunPodSandbox: {Work: 20 * time.Millisecond}, plugin.StopContainer: {Work: 50 * time.Millisecond}, plugin.StopPodSandbox: {Work: 20 * time.Millisecond},
	}
	plugins := []*NamedPlugin{
		JoinNamed(t, n, plugin.Script{Index: "10", Name: "first", Returns: true}),
		JoinNamed(t, n, plugin.Script{Index: "20", Name: "slow", Returns: true, Answers: slow}),
		JoinNamed(t, n, plugin.Script{Index: "30", Name: "last", Returns: true}),
	}
	load := NewWorkload(n.CRI())
	random := rand.New(rand.NewPCG(3, 7))
	for round := range rounds {
		killed, returns := plugins[round%len(plugins)], round%2 == 1
		killAt := int64(random.IntN(30))
		backAt := killAt + 1 + int64(random.IntN(30))
		endAt := backAt + int64(random.IntN(40))
		t.Logf("round %d: %s is killed at call %d, reconnects at call %d (%v), the runtime is killed at %d", round, killed.Name(), killAt, backAt, returns, endAt)
		var calls atomic.Int64
		var dying atomic.Bool // whether calls may fail
		load.Step = func() { calls.Add(1) }
		var all sync.WaitGroup
		for worker := range workers {
			all.Go(func() {
				var err error
				for i := 0; err == nil || RunsOnStock && meetsSnapshotLeftBehind(err); i++ {
					err = load.Lead(WithinAMinute(t), fmt.Sprintf("r%d-w%d-%d", round, worker, i), i)
				}
				assert.Truef(t, dying.Load(), "worker %d, before the runtime is killed: %v", worker, err)
			})
		}
		await := func(call int64) {
			require.NoError(t, wait.Until(WithinAMinute(t), fmt.Sprintf("call %d", call), func(context.Context) error {
				if at := calls.Load(); at < call {
					return fmt.Errorf("it is call %d", at)
				}
				return nil
			}))
		}
		await(killAt)
		require.NoError(t, killed.Process().Kill())
		if returns {
			await(backAt)
			killed.Comes(t)
		}
		await(endAt)
		had := map[*NamedPlugin]int{}
		for _, p := range plugins {
			had[p] = len(p.Connections())
		}
		dying.Store(true)
		require.NoError(t, n.Kill(WithinAMinute(t)))
		all.Wait()

		require.NoError(t, n.Boot(WithinAMinute(t)))
		for _, p := range plugins {
			if p != killed || returns {
				p.RequireBack(t, had[p])
			}
		}
		EndAllPods(t, n, load)
		if !returns {
			killed.Comes(t)
		}
	}
	NewLife(t, n, "afterwards").End(t)
	for _, p := range plugins {
		Promise(t, "L18", p.Name()+" received the end of all that it knew, in order", OnStock(NeverHears), Eventually(func(t require.TestingT) {
			load.RequireContractKeptOver(t, p.Name(), WithoutUnsent(t, p.Connections()))
		}))
	}
}

// meetsSnapshotLeftBehind reports whether a pod failed because of a folder that the overlay
// snapshotter had made, and not committed, when its runtime was killed. On stock the next snapshot
// of that number fails, and removes the folder.
func meetsSnapshotLeftBehind(err error) bool {
	return err != nil && strings.Contains(err.Error(), "io.containerd.snapshotter.v1.overlayfs/snapshots/") && strings.HasSuffix(err.Error(), "file exists")
}
