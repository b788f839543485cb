// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/suite"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

func TestL7_NetworkStandsWhileARefusedPodIsUndone(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	first, second, _ := ConnectTrio(t, n)

	config := RunRefused(t, second, n)

	RequireUndoneWhileNetworkStood(t, first, config)
	RequireUndoneWhileNetworkStood(t, second, config)
}

// A plugin that refuses may fail again when told of the end.
func TestL9_RollBackReachesAllIfAPluginFails(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	first, second, _ := ConnectTrio(t, n)
	first.On(plugin.StopPodSandbox, plugin.Fail("cannot stop"))
	first.On(plugin.RemovePodSandbox, plugin.Fail("cannot remove"))

	config := RunRefused(t, second, n)

	require.Equal(t, Undone, first.Calls().Named("refused").Events())
	Promise(t, "L9", "a plugin's failure in the roll-back keeps nothing from the next", OnStock("it gets neither Stop nor Remove"), func(t require.TestingT) {
		RequireUndoneWhileNetworkStood(t, second, config)
	})
	Promise(t, "L8", "a plugin's failure in the roll-back leaves nothing behind", RollBackRaces, func(t require.TestingT) { RequireNothingLeft(t, n) })
}

func TestL7_RefusedPodIsUndoneEachTime(t *testing.T) {
	t.Parallel()
	tries := 60
	if RunsOnStock {
		tries = 400 // up to the first that fails
	}
	n := StartNode(t)
	refuses := plugin.New("10", "refuses")
	refuses.On(plugin.RunPodSandbox, plugin.Fail("not here"))
	Connect(t, n, refuses)
	config := n.CRI().Pod("refused")

	Promise(t, "L7", "nothing is left of a refused pod, each time", OnStock(RollBackRaces.Words), func(t require.TestingT) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // on a busy machine, each takes its time
		defer cancel()
		for range tries {
			_, err := n.CRI().RunPod(ctx, config)
			require.ErrorContains(t, err, "not here")
			RequireNothingLeft(t, n)
		}
	})
}
