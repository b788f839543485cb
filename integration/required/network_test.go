// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// notGated is how stock behaves while the network's driver is disconnected.
const notGated = "the network is ready"

// The plugin that gives pods their network is not connected yet, connects, and disconnects for
// good: the node says so, and while it is disconnected runs only pods on the host's network.
func TestL20_NetworkIsReadyWhileTheRequiredPluginIsConnected(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(gates("10s", "1s", "must"))) // within the grace the next process connects
	ctx, c := WithinAMinute(t), n.CRI()
	gone := func(when string) {
		Promise(t, "L20", "NetworkReady names it "+when, OnStock(notGated), func(t require.TestingT) { requireDisconnected(t, n, "must") })
		pod := PodIn(n, "default", strings.ReplaceAll(when, " ", "-"), nil)
		_, err := c.RunPod(ctx, pod)
		Promise(t, "L20", "a pod that needs the network is rejected with the same message "+when, OnStock(NotRequired), func(t require.TestingT) {
			RequireUnavailable(t, err, pod.Metadata.Name, "required plugin must is disconnected since 2")
		})
		Promise(t, "L20", "pods on the host's network start "+when, KeptOnStock, func(t require.TestingT) {
			RequireLife(ctx, t, n, OnHostNetwork(PodIn(n, "default", "host-"+pod.Metadata.Name, nil)))
		})
	}
	gone("before it connects")
	for range 2 {
		must := JoinProcess(t, n, plugin.Script{Index: "10", Name: "must"})
		Promise(t, "L20", "NetworkReady is true once it is connected", KeptOnStock, func(t require.TestingT) { RequireNetworkReady(t, n) })
		_, err := c.RunPod(ctx, PodIn(n, "default", fmt.Sprintf("pod-%d", time.Now().UnixNano()), nil))
		require.NoError(t, err)
		require.NoError(t, must.Kill())
	}
	gone("after it has disconnected")
	Promise(t, "L17", "each transition is logged once, counted and shown", OnStock("none is logged"), func(t require.TestingT) {
		RequireSoon(t, "the log", func(context.Context) error {
			return HasLogged(n, "network takes no pods: required NRI plugin is disconnected", "plugin=must")
		})
		log, err := n.Log()
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(log, "network takes no pods until required NRI plugin has connected"))
		assert.Equal(t, 1, strings.Count(log, "network waits no longer for required NRI plugin"), "it was back within its grace")
		assert.Equal(t, 1, strings.Count(log, "network takes no pods: required NRI plugin is disconnected"))
		transitions, err := n.Metrics(ctx, "containerd_nri_network_gate_transitions_total")
		require.NoError(t, err)
		assert.Equal(t, map[string]float64{`{plugin="must",to="closed"}`: 1, `{plugin="must",to="open"}`: 1}, transitions)
		closed, err := n.Metrics(ctx, "containerd_nri_network_gate_closed")
		require.NoError(t, err)
		assert.Equal(t, map[string]float64{`{plugin="must"}`: 1}, closed)
		gate := ReadNRI(t, n).RequiredPlugins[0].NetworkGate
		require.NotNil(t, gate)
		assert.True(t, gate.Closed)
		assert.Equal(t, "10s", gate.Grace)
	})
	RemoveAllPods(ctx, t, c)
	RequireNothingLeft(t, n)
}

// The pod of the plugin is replaced, and containerd is restarted: a client that polls the status
// sees no change. Pods start with the approval of the plugin's next process.
func TestL20_NetworkStaysReadyWhileTheRequiredPluginRestarts(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(gates("20s", "20s", "must")))
	must := JoinProcess(t, n, plugin.Script{Index: "10", Name: "must"})
	RequireNetworkReady(t, n)
	watched := WatchNetwork(t, n)
	var created []CreationOf
	for i := range 3 {
		require.NoError(t, must.Kill())
		RequireSoon(t, "the plugin to be disconnected", func(context.Context) error { return IsDisconnected(t, n) })
		ran := make(chan []CreationOf, 1)
		go func() {
			ran <- RunPods(WithinAMinute(t), n, 1, 40*time.Second, PodsNamed(n, fmt.Sprintf("pod%d", i), 1)...)
		}()
		if !RunsOnStock {
			RequireSoon(t, "the pod that waits", func(context.Context) error { return WaitFor(t, n, "must", 1) })
		}
		must = JoinProcess(t, n, plugin.Script{Index: "10", Name: "must"})
		created = append(created, <-ran...)
	}
	all := watched()
	t.Logf("%d answers over three restarts", len(all))
	Promise(t, "L20", "NetworkReady stays true over restarts of the plugin", KeptOnStock, func(t require.TestingT) {
		require.Greater(t, len(all), 10)
		for _, c := range all {
			require.True(t, c.GetStatus(), c)
		}
	})
	RequireAllCreated(t, created)

	require.NoError(t, n.Kill(WithinAMinute(t)))
	watched = WatchNetwork(t, n)
	require.NoError(t, must.Kill())
	require.NoError(t, n.Boot(WithinAMinute(t)))
	JoinProcess(t, n, plugin.Script{Index: "10", Name: "must"})
	RequireNetworkReady(t, n)
	all = watched()
	Promise(t, "L20", "NetworkReady stays true over a restart of containerd", KeptOnStock, func(t require.TestingT) {
		require.NotEmpty(t, all)
		for _, c := range all {
			require.True(t, c.GetStatus(), c)
		}
	})
}

// Containerd is restarted without the plugin: a plugin that was connected before has its grace, and
// one that was not has none.
func TestL20_RestartKeepsTheStateOfTheNetwork(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(gates("10s", "1s", "must"))) // within the grace containerd serves again
	must := JoinProcess(t, n, plugin.Script{Index: "10", Name: "must"})
	if !RunsOnStock {
		RequireSoon(t, "the gate to be open", func(context.Context) error { return HasLogged(n, "network waits no longer", "plugin=must") })
	}
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, must.Kill())
	watched := WatchNetwork(t, n)
	require.NoError(t, n.Boot(WithinAMinute(t)))
	Promise(t, "L20", "NetworkReady is false if the plugin stays disconnected", OnStock(notGated), func(t require.TestingT) { requireDisconnected(t, n, "must") })
	all := watched()
	Promise(t, "L20", "NetworkReady is true until then", KeptOnStock, func(t require.TestingT) {
		require.NotEmpty(t, all)
		assert.True(t, all[0].GetStatus(), all[0])
	})
	if !RunsOnStock {
		RequireSoon(t, "the gate to be closed", func(context.Context) error { return HasLogged(n, "network takes no pods: ", "plugin=must") })
	}

	require.NoError(t, n.Kill(WithinAMinute(t)))
	watched = WatchNetwork(t, n)
	require.NoError(t, n.Boot(WithinAMinute(t)))
	all = watched()
	Promise(t, "L20", "after one more restart NetworkReady is false from the first answer on", OnStock(notGated), func(t require.TestingT) {
		require.NotEmpty(t, all)
		for _, c := range all {
			require.Equal(t, "NRIPluginDisconnected", c.GetReason(), c)
		}
	})
	JoinProcess(t, n, plugin.Script{Index: "90", Name: "must"})
	Promise(t, "L20", "NetworkReady is true once the plugin is connected", KeptOnStock, func(t require.TestingT) { RequireNetworkReady(t, n) })
}

// Of two plugins, each disconnected one is named.
func TestL20_NetworkWaitsForTwoRequiredPlugins(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(gates("100ms", "1s", "must", "device")))
	Promise(t, "L20", "NetworkReady names both", OnStock(notGated), func(t require.TestingT) { requireDisconnected(t, n, "device", "must") })
	must := JoinProcess(t, n, plugin.Script{Index: "10", Name: "must"})
	Promise(t, "L20", "NetworkReady names the one that is still disconnected", OnStock(notGated), func(t require.TestingT) { requireDisconnected(t, n, "device") })
	JoinProcess(t, n, plugin.Script{Index: "20", Name: "device"})
	Promise(t, "L20", "NetworkReady is true once both are connected", KeptOnStock, func(t require.TestingT) { RequireNetworkReady(t, n) })
	require.NoError(t, must.Kill())
	Promise(t, "L20", "NetworkReady names the one that has disconnected", OnStock(notGated), func(t require.TestingT) { requireDisconnected(t, n, "must") })
}
