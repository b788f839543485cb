// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

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
