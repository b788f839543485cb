// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// connectSlowToStop connects a plugin that holds StopPodSandbox at a gate, and then checks the
// network.
func connectSlowToStop(t *testing.T, n *node.Node) (*plugin.Plugin, *plugin.Gate) {
	t.Helper()
	p, gate := plugin.New("10", "slow"), NewGate(t)
	p.On(plugin.StopPodSandbox, func(ctx context.Context, call *plugin.Call) error {
		if err := gate.Hold(ctx, call); err != nil {
			return err
		}
		return AgreesIfNetworkStands(n)(ctx, call)
	})
	Connect(t, n, p)
	return p, gate
}

// stopImpatiently stops a pod and cancels after a while, in which a runtime that does not wait
// would have finished.
func stopImpatiently(t *testing.T, n *node.Node, pod string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	return n.CRI().StopPod(ctx, pod)
}

// A second stop sends nothing, but it waits for the hooks of the first.
func TestL10_SecondStopWaitsForTheHookOfTheFirst(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithNeeds(Patient))
	p, gate := connectSlowToStop(t, n)
	ctx, c := WithinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("twice"))
	require.NoError(t, err)

	first := InBackground(func() error { return c.StopPod(ctx, pod) })
	RequireClosed(t, gate.Entered(), "StopPodSandbox")
	require.Error(t, stopImpatiently(t, n, pod))
	require.True(t, IsOpen(first))
	gate.Release()
	require.NoError(t, <-first)

	stop := p.Calls().Of(pod).Only(plugin.StopPodSandbox)
	require.Len(t, stop, 1)
	require.NoError(t, stop[0].Err, "the check of the network")
	require.NoError(t, c.RemovePod(ctx, pod))
	require.Equal(t, Undone, p.Calls().Of(pod).Events())
	RequireNothingLeft(t, n)
}

// The first caller cancels. The hook runs on, and the network stays for it.
func TestL10_NetworkStandsForTheHookOfACanceledStop(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithNeeds(Patient))
	p, gate := connectSlowToStop(t, n)
	ctx, c := WithinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("abandoned"))
	require.NoError(t, err)

	abandoned, cancel := context.WithCancel(ctx)
	first := InBackground(func() error { return c.StopPod(abandoned, pod) })
	RequireClosed(t, gate.Entered(), "StopPodSandbox")
	cancel()
	require.Error(t, <-first)
	var errSecond error
	if RunsOnStock { // stock does not wait: so the stop gets all the time that it needs
		errSecond = c.StopPod(ctx, pod)
	} else {
		errSecond = stopImpatiently(t, n, pod)
	}
	gate.Release()
	RequireSoon(t, "the answer", func(context.Context) error { return HasAnswered(p, plugin.StopPodSandbox) })
	require.NoError(t, c.StopPod(ctx, pod))
	require.NoError(t, c.RemovePod(ctx, pod))

	Promise(t, "L10", "a stop waits for the hook of a canceled one", OnStock("it does not"), func(t require.TestingT) {
		assert.Error(t, errSecond, "the second stop did not wait for the hook")
	})
	Promise(t, "L10", "the network stands until the hook of a canceled stop ends", OnStock("it is removed while the hook runs"), func(t require.TestingT) {
		stop := p.Calls().Of(pod).Only(plugin.StopPodSandbox)
		require.Len(t, stop, 1)
		assert.NoError(t, stop[0].Err, "the check of the network")
	})
	Promise(t, "L9", "the hook of a canceled stop has its full time, and its plugin stays connected", KeptOnStock, func(t require.TestingT) {
		stop := p.Calls().Of(pod).Only(plugin.StopPodSandbox)
		require.Len(t, stop, 1)
		assert.NoError(t, stop[0].Abandoned, "the hook ran under a canceled context")
		assert.True(t, IsOpen(p.Closed()), "the plugin was dropped")
		assert.Equal(t, Undone, p.Calls().Of(pod).Events())
	})
	RequireNothingLeft(t, n)
}
