// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// While STATUS hangs, calls of Status get the answer before it.
func TestN1_HungStatusDelaysNoCall(t *testing.T) {
	t.Parallel()
	a := newAgent(t, "status_timeout = '30s'")
	a.requireNetworkReady(t)
	a.says("STATUS", hangs)
	promise(t, "N1", "no call of Status waits for a STATUS that hangs", onStock("each call waits for the plugin"), func(t require.TestingT) {
		a.requireHangs()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		var calls sync.WaitGroup
		took := make([]time.Duration, 200)
		for i := range took {
			calls.Go(func() {
				began := time.Now()
				c, err := a.networkCondition(ctx)
				took[i] = time.Since(began)
				assert.NoError(t, err)
				assert.True(t, c.GetStatus(), "the answer before it")
			})
		}
		calls.Wait()
		assert.Less(t, slices.Max(took), 500*time.Millisecond, "whoever waits for an answer does so for a second")
		a.Logf("200 calls at once: the slowest took %s", slices.Max(took))
	})
	promise(t, "N1", "STATUS is asked once for all calls", sometimesOnStock("each call asks"), func(t require.TestingT) {
		assert.Equal(t, 1, a.timesHung())
	})
}

// timesHung is how many STATUS have been asked since the agent hangs.
func (a *agent) timesHung() int {
	a.Helper()
	text, err := os.ReadFile(filepath.Join(a.dir, "hangs"))
	require.NoError(a, err)
	return len(text)
}

// While STATUS hangs, pods come and go and the configuration is loaded again.
func TestN4_HungStatusDelaysNoPodAndNoReload(t *testing.T) {
	t.Parallel()
	a := newAgent(t, "status_timeout = '30s'")
	before := a.runPod("before")
	a.requireNetworkReady(t)
	a.says("STATUS", hangs)
	a.requireHangs()
	var during string
	promise(t, "N4", "a pod is created while STATUS hangs", keptOnStock, func(t require.TestingT) {
		pod, err := a.tryRunPod(a.n.CRI().Pod("during"))
		require.NoError(t, err)
		during = pod
	})
	a.writeConfig("10-net.conflist", a.networkConfig("green", "10.90.0.0/24"))
	promise(t, "N4", "a configuration is loaded while STATUS hangs", onStock("a reload waits for STATUS"), func(t require.TestingT) {
		requireSoon(t, "another network to be loaded", func(ctx context.Context) error { return a.hasLoaded(ctx, "green") })
	})
	promise(t, "N4", "pods end while STATUS hangs", onStock("all waits for a reload that waits for STATUS"), func(t require.TestingT) {
		a.requirePodEnds(t, before)
		a.requirePodEnds(t, during)
		a.requireNoAddressTaken(t, "blue", "green")
	})
}
