// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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
			load.RequireContractKeptOver(t, p.Name(), withoutUnsent(t, p.Connections()))
		}))
	}
}

// meetsSnapshotLeftBehind reports whether a pod failed because of a folder that the overlay
// snapshotter had made, and not committed, when its runtime was killed. On stock the next snapshot
// of that number fails, and removes the folder.
func meetsSnapshotLeftBehind(err error) bool {
	return err != nil && strings.Contains(err.Error(), "io.containerd.snapshotter.v1.overlayfs/snapshots/") && strings.HasSuffix(err.Error(), "file exists")
}

// withoutUnsent leaves out the end of a pod or container whose first event was not yet received
// when the plugin or the runtime was killed, so that no record has it (L3). A plugin receives one
// event at a time, so that a kill interrupts one.
func withoutUnsent(t require.TestingT, records []plugin.Calls) (all []plugin.Calls) {
	received := map[string]bool{}
	for _, call := range slices.Concat(records...) {
		for _, pod := range call.Pods {
			received[pod.GetId()] = true
		}
		for _, container := range call.Containers {
			received[container.GetId()] = true
		}
		switch call.Event {
		case plugin.RunPodSandbox:
			received[call.Pod.GetId()] = true
		case plugin.CreateContainer:
			received[call.Container.GetId()] = true
		}
	}
	unsent := map[string]bool{}
	for _, record := range records {
		all = append(all, slices.DeleteFunc(slices.Clone(record), func(call plugin.Call) bool {
			id := cmp.Or(call.Container.GetId(), call.Pod.GetId())
			cut := slices.Contains(EveryEnd, call.Event) && !received[id]
			unsent[id] = unsent[id] || cut
			return cut
		}))
	}
	maps.DeleteFunc(unsent, func(_ string, cut bool) bool { return !cut })
	assert.Less(t, len(unsent), len(records), "ends of pods and containers that the plugin does not know")
	return all
}
