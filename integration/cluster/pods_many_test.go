// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"
)

// many is the number of pods of a rollout, below the kubelet's limit of 110.
const many = 60

// A rollout, a rolling update and the deletion of many pods, with a plugin that takes 50 ms in each
// hook: the plugin receives each pod's life once and in order.
func TestL1_LivesOfManyPodsAreDeliveredOnce(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	plugin := c.record(t, "recorder", recorderOptions{work: 50 * time.Millisecond})
	plugin.connected(t)
	ns := c.namespace(t)
	pods := c.watchPods(t, ns)
	before := c.startLatency(t)

	c.deployment(t, ns, "web", many)
	t.Logf("%d pods run after %s", many, c.rolledOut(t, ns, "web").Round(100*time.Millisecond))
	c.update(t, ns, "web")
	t.Logf("a rolling update took %s", c.rolledOut(t, ns, "web").Round(100*time.Millisecond))
	t.Log(c.startLatency(t).since(before))
	c.scale(t, ns, "web", 0)
	t.Logf("all are gone after %s", c.rolledOut(t, ns, "web").Round(100*time.Millisecond))

	all := pods.all(t, 2*many)
	plugin.hasEnds(t, ns, all)
	requireWholeLives(t, requireLawful(t, plugin.received(t), ns), all)
}
