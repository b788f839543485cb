// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A plugin that hangs in StopPodSandbox does not block the end of a pod or of its namespace.
func TestL8_PluginThatHangsInStopKeepsNoPod(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	recorder := c.record(t, "recorder", recorderOptions{})
	recorder.connected(t)
	ns := c.namespace(t)
	c.deployment(t, ns, "plain", 5)
	for _, name := range []string{"hung-1", "hung-2"} {
		c.annotated(t, ns, name, "e2e.hookline.dev/hang-stop", "yes")
		c.podReady(t, ns, name)
	}
	c.rolledOut(t, ns, "plain")

	start := time.Now()
	c.podGone(t, ns, "hung-1", soon)
	t.Logf("a pod at whose stop the plugin hangs is gone after %s", time.Since(start).Round(100*time.Millisecond))
	require.Less(t, time.Since(start), time.Minute, "a grace of 5 s and a timeout of 10 s, and what a busy machine adds")

	var stops plugin.Calls
	for _, p := range recorder.received(t) {
		stops = append(stops, p.Calls.Named("hung-1").Only(plugin.StopPodSandbox)...)
	}
	require.NotEmpty(t, stops)
	require.Zero(t, stops[0].End, "the plugin does not hang")

	start = time.Now()
	c.deleteNamespace(t, ns, soon)
	t.Logf("its namespace is gone after %s", time.Since(start).Round(100*time.Millisecond))
}
