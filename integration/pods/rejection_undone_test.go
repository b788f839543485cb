// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

func TestL7_NetworkStandsWhileARejectedPodIsUndone(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	first, second, _ := ConnectTrio(t, n)

	config := RunRejected(t, second, n)

	RequireUndoneWhileNetworkStood(t, first, config)
	RequireUndoneWhileNetworkStood(t, second, config)
}

// A plugin that rejects a pod may also fail at its end.
func TestL9_RollBackReachesAllIfAPluginFails(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	first, second, _ := ConnectTrio(t, n)
	first.On(plugin.StopPodSandbox, plugin.Fail("cannot stop"))
	first.On(plugin.RemovePodSandbox, plugin.Fail("cannot remove"))

	config := RunRejected(t, second, n)

	require.Equal(t, Undone, first.Calls().Named("rejected").Events())
	Promise(t, "L9", "later plugins receive the end though a plugin fails in the roll-back", OnStock("they receive neither Stop nor Remove"), func(t require.TestingT) {
		RequireUndoneWhileNetworkStood(t, second, config)
	})
	Promise(t, "L8", "a plugin's failure in the roll-back leaves nothing behind", RollBackRaces, func(t require.TestingT) { RequireNothingLeft(t, n) })
}
