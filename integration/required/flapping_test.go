// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// flappedPods is the variable that sets how many pods start while a required plugin is killed each
// second: at most 2,000, the number of addresses of a node.
const flappedPods = "HOOKLINE_FLAPPED_PODS"

// No pod becomes Ready without the approval of a required plugin that is killed every second.
func TestL20_NoPodIsReadyWithoutApprovalOfAFlappingRequiredPlugin(t *testing.T) {
	t.Parallel()
	pods := CountFrom(t, flappedPods, 30)
	n := StartNode(t, WithConfig(PluginSetting("must", "required_for = ['pods']\nwait = '10s'")))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute+time.Duration(pods)*2*time.Second)
	defer cancel()
	stop := make(chan struct{})
	var flaps sync.WaitGroup
	var processes []*plugin.Process
	flaps.Go(func() {
		for {
			p, err := plugin.Start(n.NRISocket(), plugin.Script{
				Index: "20", Name: "must", Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: {Work: 20 * time.Millisecond}}})
			if !assert.NoError(t, err) {
				return
			}
			processes = append(processes, p)
			// Its second begins when it has joined, however long it takes to start.
			assert.NoError(t, wait.Until(ctx, "the plugin to join", func(context.Context) error {
				if !IsOpen(stop) {
					return nil
				}
				return HasAnswered(p, plugin.Synchronize)
			}))
			select {
			case <-stop:
			case <-time.After(time.Second):
			}
			assert.NoError(t, p.Kill())
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	start := time.Now()
	created := RunPods(ctx, n, 8, time.Minute, PodsNamed(n, "pod", pods)...)
	took := time.Since(start)
	close(stop)
	flaps.Wait()
	var ready []CreationOf
	for _, c := range created {
		if c.Err == nil {
			ready = append(ready, c)
			continue
		}
		t.Logf("rejected: %v", c.Err)
	}
	t.Logf("%d of %d pods are Ready after %s, with %d processes of the plugin, the slowest in %s",
		len(ready), pods, took.Round(time.Second), len(processes), Slowest(created).Round(time.Millisecond))

	Promise(t, "L20", "each Ready pod has the approval of one of its processes", OnStock("it starts without it"), func(t require.TestingT) {
		RequireSoon(t, "the approval of each", func(context.Context) error {
			if without := withoutApproval(ready, processes); without > 0 {
				return fmt.Errorf("%d of %d pods have none", without, len(ready))
			}
			return nil
		})
	})
	Promise(t, "L20", "pods that wait for their turn start with a later process", KeptOnStock, func(t require.TestingT) {
		// Each kill interrupts one hook at most.
		assert.GreaterOrEqual(t, len(ready), pods-len(processes))
	})
	Promise(t, "L7", "nothing is left", KeptOnStock, func(t require.TestingT) {
		RemoveAllPods(ctx, t, n.CRI())
		RequireNothingLeft(t, n)
	})
}

// withoutApproval counts the pods for which none of a plugin's processes has answered.
func withoutApproval(ready []CreationOf, processes []*plugin.Process) int {
	answered := map[string]bool{}
	for _, p := range processes {
		for _, call := range p.Calls().Only(plugin.RunPodSandbox) {
			answered[call.Pod.GetId()] = answered[call.Pod.GetId()] || !call.End.IsZero()
		}
	}
	without := 0
	for _, pod := range ready {
		if !answered[pod.ID] {
			without++
		}
	}
	return without
}
