// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// startProcess starts a plugin in a process of its own, which ends with the test at
// the latest.
func startProcess(t *testing.T, n target, s plugin.Script) *plugin.Process {
	t.Helper()
	p, err := plugin.Start(n.NRISocket(), s)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.Kill()) })
	return p
}

// joinProcess is startProcess, and waits until the plugin is synchronized.
func joinProcess(t *testing.T, n target, s plugin.Script) *plugin.Process {
	t.Helper()
	p := startProcess(t, n, s)
	requireSoon(t, p.Name()+" to join", func(context.Context) error { return hasAnswered(p, plugin.Synchronize) })
	return p
}

// noPolicies is what becomes of each plugin that times out on stock.
const noPolicies = "it knows no failure policies: the plugin is dropped, and requests go on without it"

// inTimeouts logs how long something took, as a multiple of a timeout.
func inTimeouts(t *testing.T, what string, took, timeout time.Duration) {
	t.Helper()
	t.Logf("%s: %.2f timeouts (%s of %s)", what, took.Seconds()/timeout.Seconds(), took.Round(time.Millisecond), timeout)
}

// creationOf is how the creation of a pod went.
type creationOf struct {
	id   string
	took time.Duration
	err  error
}

// runPods creates pods, as many at a time as limit says, and gives each so long.
func runPods(ctx context.Context, n target, limit int, deadline time.Duration, pods ...*runtime.PodSandboxConfig) []creationOf {
	created := make([]creationOf, len(pods))
	var all errgroup.Group
	all.SetLimit(limit)
	for i, pod := range pods {
		all.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, deadline)
			defer cancel()
			start := time.Now()
			id, err := n.CRI().RunPod(ctx, pod)
			created[i] = creationOf{id, time.Since(start), err}
			return nil
		})
	}
	_ = all.Wait() // the errors are in the list
	return created
}

// podsNamed are pods with names that count from 0.
func podsNamed(n target, name string, count int) (pods []*runtime.PodSandboxConfig) {
	for i := range count {
		pods = append(pods, n.CRI().Pod(fmt.Sprint(name, i)))
	}
	return pods
}

// slowest is how long the slowest of creations took.
func slowest(created []creationOf) (took time.Duration) {
	for _, c := range created {
		took = max(took, c.took)
	}
	return took
}

// requireAllCreated checks that each creation went well.
func requireAllCreated(t require.TestingT, created []creationOf) {
	for i, c := range created {
		require.NoError(t, c.err, "creation %d of %d", i+1, len(created))
	}
}

// requireWholeEnds waits until a plugin was told of the end of all that it knows, and
// checks what it was told over its one connection against the contract.
func requireWholeEnds(t require.TestingT, p told) {
	requireSoon(t, "all ends", func(context.Context) error {
		if alive := history.Read(p.Calls(), nil).Alive(); len(alive) > 0 {
			return fmt.Errorf("%s knows %s", p.Name(), alive)
		}
		return nil
	})
	require.Len(t, p.Calls().Connections(), 1, p.Name())
	assert.Empty(t, history.Read(p.Calls(), nil).Faults(), p.Name())
}

// endPod stops and removes a pod, and returns how long that took.
func endPod(ctx context.Context, t require.TestingT, n target, pod string) time.Duration {
	start := time.Now()
	require.NoError(t, n.CRI().StopPod(ctx, pod))
	require.NoError(t, n.CRI().RemovePod(ctx, pod))
	return time.Since(start)
}
