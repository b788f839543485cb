// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"fmt"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Ten pods wait for a plugin whose policy fails requests that it does not answer. At the first pod
// it freezes or crashes.
func TestL16_NoPodThatWaitsIsReadyWithoutThePluginThatFailsRequests(t *testing.T) {
	t.Parallel()
	const timeout, pods = 6 * time.Second, 10
	for name, s := range map[string]struct{ keptConnected, killed bool }{
		"it freezes and is dropped":      {},
		"it freezes and stays connected": {keptConnected: true},
		"it is killed":                   {killed: true},
	} {
		t.Run(name, func(t *testing.T) {
			n := StartNode(t, WithNeeds(Needs{Timeouts: Timeouts{Request: timeout}}))
			asked := JoinProcess(t, n, plugin.Script{
				Index: "20", Name: "asked",
				Policy:  &api.FailurePolicy{FailRequest: true, KeepConnected: s.keptConnected},
				Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: {Freeze: true}},
			})
			ctx := WithinAMinute(t)
			// All pods are held just before the plugin, whose timeout is short, so that they reach
			// it together.
			waiting := PodsNamed(n, "waits", pods)
			var starts []*node.Hold
			for _, pod := range waiting {
				start, err := n.HoldAt(node.After("runc", "start"), pod.GetMetadata().GetName())
				require.NoError(t, err)
				starts = append(starts, start)
			}
			ran := make(chan []CreationOf, 1)
			go func() { ran <- RunPods(ctx, n, pods, time.Minute, waiting...) }()
			for _, start := range starts {
				require.NoError(t, start.Entered(ctx))
			}
			for _, start := range starts {
				require.NoError(t, start.Release())
			}
			require.NoError(t, asked.Frozen(ctx))
			if !RunsOnStock { // on stock they wait for a lock
				RequireWaiting(t, n, asked, pods-1)
			}
			require.Empty(t, ran, "before the plugin was asked")
			start := time.Now()
			if s.killed {
				require.NoError(t, asked.Kill())
			}
			created := <-ran
			took := time.Since(start)
			InTimeouts(t, "ten pods fail", took, timeout)

			Promise(t, "L16", "no pod that waits for the plugin becomes Ready without its approval", OnStock(NoPolicies), func(t require.TestingT) {
				for i, c := range created {
					assert.Error(t, c.Err, "pod %d", i)
				}
				RequireNoPodReady(ctx, t, n.CRI())
			})
			Promise(t, "L22", "they fail together, after one timeout", KeptOnStock, func(t require.TestingT) {
				assert.Less(t, took, pods/2*timeout) // one after the other they would take ten
			})
			if s.keptConnected {
				next := RunPods(ctx, n, 1, time.Minute, PodsNamed(n, "next", 1)...)
				InTimeouts(t, fmt.Sprintf("the next pod fails (%v)", next[0].Err), next[0].Took, timeout)
				Promise(t, "L22", "the next pod fails at once, and its error names the unanswered event", OnStock(NoPolicies), func(t require.TestingT) {
					assert.ErrorContains(t, next[0].Err, "20-asked")
					assert.ErrorContains(t, next[0].Err, "has not answered RunPodSandbox of pod")
					assert.Less(t, next[0].Took, timeout)
				})
			}
			Promise(t, "L7", "nothing is left of them", RollBackRaces, func(t require.TestingT) {
				RemoveAllPods(ctx, t, n.CRI())
				RequireNothingLeft(t, n)
			})
		})
	}
}
