// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// connectTrio is three plugins of which the first two look at the pod's network at
// its end.
func connectTrio(t *testing.T, n *node.Node) (first, second, third *plugin.Plugin) {
	first, second, third = plugin.New("10", "first"), plugin.New("20", "second"), plugin.New("30", "third")
	for _, p := range []*plugin.Plugin{first, second} {
		p.On(plugin.StopPodSandbox, agreesIfNetworkStands(n))
		p.On(plugin.RemovePodSandbox, agreesIfNetworkStands(n))
	}
	connect(t, n, first, second, third)
	return first, second, third
}

// requireUndoneWhileNetworkStood checks what a plugin that was asked was told of a pod.
func requireUndoneWhileNetworkStood(t require.TestingT, p *plugin.Plugin, pod *runtime.PodSandboxConfig) {
	calls := p.Calls().Named(pod.GetMetadata().GetName())
	assert.Equal(t, undone, calls.Events(), p.Name())
	for _, call := range calls.Only(plugin.StopPodSandbox, plugin.RemovePodSandbox) {
		assert.NoError(t, call.Err, "%s looked at the network", p.Name())
		assert.NoError(t, call.Abandoned, "%s got %s under a dead context", p.Name(), call.Event)
	}
}

// runRefused has a plugin refuse a pod, which is returned.
func runRefused(t *testing.T, p *plugin.Plugin, n fixture.Runtime) *runtime.PodSandboxConfig {
	t.Helper()
	p.On(plugin.RunPodSandbox, plugin.Fail("no room for it"))
	config := n.CRI().Pod("refused")
	_, err := n.CRI().RunPod(withinAMinute(t), config)
	require.ErrorContains(t, err, "no room for it")
	return config
}

func TestL7_NetworkStandsWhileARefusedPodIsUndone(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	first, second, _ := connectTrio(t, n)

	config := runRefused(t, second, n)

	requireUndoneWhileNetworkStood(t, first, config)
	requireUndoneWhileNetworkStood(t, second, config)
}

// A plugin that refuses may fail again when told of the end.
func TestL9_RollBackReachesAllIfAPluginFails(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	first, second, _ := connectTrio(t, n)
	first.On(plugin.StopPodSandbox, plugin.Fail("cannot stop"))
	first.On(plugin.RemovePodSandbox, plugin.Fail("cannot remove"))

	config := runRefused(t, second, n)

	require.Equal(t, undone, first.Calls().Named("refused").Events())
	promise(t, "L9", "a plugin's failure in the roll-back keeps nothing from the next", onStock("it gets neither Stop nor Remove"), func(t require.TestingT) {
		requireUndoneWhileNetworkStood(t, second, config)
	})
	promise(t, "L8", "a plugin's failure in the roll-back leaves nothing behind", rollBackRaces, func(t require.TestingT) { requireNothingLeft(t, n) })
}

func TestL7_RefusedPodIsUndoneEachTime(t *testing.T) {
	t.Parallel()
	tries := 60
	if runsOnStock {
		tries = 400 // up to the first that fails
	}
	n := startNode(t)
	refuses := plugin.New("10", "refuses")
	refuses.On(plugin.RunPodSandbox, plugin.Fail("not here"))
	connect(t, n, refuses)
	config := n.CRI().Pod("refused")

	promise(t, "L7", "nothing is left of a refused pod, each time", onStock(rollBackRaces.Words), func(t require.TestingT) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // on a busy machine, each takes its time
		defer cancel()
		for range tries {
			_, err := n.CRI().RunPod(ctx, config)
			require.ErrorContains(t, err, "not here")
			requireNothingLeft(t, n)
		}
	})
}
