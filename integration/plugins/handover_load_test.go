// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// handedPods is the variable that sets how many pods are run and removed while a plugin is
// replaced, twenty times if it is a hundred or more.
const handedPods = "HOOKLINE_HANDED_PODS"

// Pods are run and removed while a plugin is replaced again and again: each event reaches one
// instance.
func TestL19_PluginIsReplacedUnderLoad(t *testing.T) {
	t.Parallel()
	count := CountFrom(t, handedPods, 20)
	n := StartNode(t)
	var all Instances
	serving := all.Replica(t)
	Connect(t, n, serving)

	_, undisturbed := comeAndGo(t, n, "undisturbed", count/4, new(atomic.Int64))
	var gone atomic.Int64
	ended := make(chan []string, 1)
	var slow time.Duration
	go func() {
		var pods []string
		pods, slow = comeAndGo(t, n, "pod", count, &gone)
		ended <- pods
	}()
	replaced := 0
	var pods []string
	for pods == nil {
		next := all.Replica(t)
		Connect(t, n, next)
		requireReplaced(t, serving)
		serving = next
		replaced++
		for at := gone.Load(); pods == nil && gone.Load() < at+int64(max(4, count/20)); {
			select {
			case pods = <-ended:
			case <-time.After(time.Millisecond):
			}
		}
	}
	longest := time.Duration(0)
	for _, p := range all {
		for _, call := range p.Calls().Only(plugin.Synchronize) {
			longest = max(longest, call.End.Sub(call.Start))
		}
	}
	t.Logf("%d pods, %d instances; the slowest creation took %s, undisturbed %s; the slowest Synchronize %s", count, replaced, slow, undisturbed, longest)
	t.Logf("hooks of pods, as waits and work: %s", timesOf(t, n, "containerd_cri_sandbox_hook_seconds"))
	t.Logf("waits for earlier requests of the plugin, in all since the start: %s", timesOf(t, n, "containerd_nri_plugin_delivery_wait_seconds"))
	Promise(t, "L19", "each event of each pod reaches one instance", SometimesOnStock(BothReceive), func(t require.TestingT) {
		all.RequireOnce(t, pods...)
	})
}

// timesOf lists the buckets of a metric with their cumulative counts.
func timesOf(t *testing.T, n *node.Node, metric string) string {
	counted, err := n.Metrics(WithinAMinute(t), metric+"_bucket")
	require.NoError(t, err)
	total := map[string]float64{}
	for labels, events := range counted {
		_, le, _ := strings.Cut(labels, `le="`)
		le, _, _ = strings.Cut(le, `"`)
		total[le] += events
	}
	return fmt.Sprint(total)
}

// comeAndGo runs and removes pods, four at a time, and returns their ids and the time of the
// slowest creation.
func comeAndGo(t *testing.T, n Runtime, name string, count int, gone *atomic.Int64) (pods []string, slow time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	next := make(chan int)
	for range 4 {
		all.Go(func() {
			for i := range next {
				pod, took, err := comesAndGoes(t, n, fmt.Sprintf("%s-%d", name, i))
				gone.Add(1)
				if !assert.NoError(t, err) {
					continue
				}
				mu.Lock()
				pods, slow = append(pods, pod), max(slow, took)
				mu.Unlock()
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	all.Wait()
	return pods, slow
}

func comesAndGoes(t *testing.T, n Runtime, name string) (pod string, took time.Duration, err error) {
	ctx, c := WithinAMinute(t), n.CRI()
	config, began := c.Pod(name), time.Now()
	if pod, err = c.RunPod(ctx, config); err != nil {
		return pod, 0, err
	}
	took = time.Since(began)
	container, err := c.Create(ctx, pod, config, c.Container("main"))
	if err == nil {
		err = c.Start(ctx, container)
	}
	if err == nil {
		err = c.StopPod(ctx, pod)
	}
	// On stock a plugin that registers while a pod is removed with its containers deadlocks with
	// the removal. That has a test of its own.
	if err == nil {
		err = c.Remove(ctx, container)
	}
	if err == nil {
		err = c.RemovePod(ctx, pod)
	}
	return pod, took, err
}

// requireReplaced waits until the runtime closes an instance's connection. On stock the instance
// closes it.
func requireReplaced(t *testing.T, p *plugin.Plugin) {
	t.Helper()
	if RunsOnStock {
		p.Crash()
	}
	RequireClosed(t, p.Closed(), fmt.Sprintf("%s to be replaced", p.Name()))
}
