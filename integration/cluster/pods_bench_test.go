// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkManyPods measures the start and the deletion of many pods, with a plugin of 50 ms in
// each hook and without one, on either containerd. They take turns on one node, since a cluster's
// first minute is slower:
//
//	make e2e E2E="-run none -bench ManyPods -benchtime 3x"
func BenchmarkManyPods(b *testing.B) {
	c := onCluster(b)
	c.haveStock(b)
	b.Cleanup(func() { c.move(b, false); c.ready(b) })
	type side struct {
		stock, plugin bool
		name          string
	}
	sides := []side{{false, false, "hookline"}, {true, false, "stock"}, {false, true, "hookline-50ms"}, {true, true, "stock-50ms"}}
	for b.Loop() {
		for _, s := range sides {
			c.move(b, s.stock)
			up, gone := c.round(b, s.plugin)
			b.Logf("%s: started in %s, deleted in %s", s.name, up.Round(100*time.Millisecond), gone.Round(100*time.Millisecond))
			b.ReportMetric(up.Seconds(), "last-"+s.name+"-up-s")
		}
	}
}

// round is one rollout and its deletion.
func (c *cluster) round(b *testing.B, withPlugin bool) (up, gone time.Duration) {
	b.Helper()
	own, ns := c.namespace(b), c.namespace(b)
	if withPlugin {
		c.record(b, "recorder", recorderOptions{namespace: own, work: 50 * time.Millisecond}).connected(b)
	}
	before := c.startLatency(b)
	c.deployment(b, ns, "web", many)
	up = c.rolledOut(b, ns, "web")
	b.Log(c.startLatency(b).since(before))
	c.scale(b, ns, "web", 0)
	gone = c.rolledOut(b, ns, "web")
	c.deleteNamespace(b, ns, collect)
	c.deleteNamespace(b, own, collect)
	require.NotZero(b, up)
	return up, gone
}
