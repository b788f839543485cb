// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// DEL does not depend on STATUS.
var _ = Network.has("N3_PodsEndWhileStatusFails", Needs{Network: true}, func(t T) {
	a := NewAgent(t, t.Runtime(), "")
	for _, script := range []string{TakesNone, Degraded, Garbage} {
		pod := a.RunPod("web")
		a.Says("STATUS", script)
		a.RequireNetworkDown(t, "")
		a.RequirePodEnds(t, pod)
		a.RequireNoAddressTaken(t, "blue")
		a.Says("STATUS", "")
		a.RequireNetworkReady(t)
	}
})

// All addresses are taken: new pods are rejected with the plugin's message. Once old pods are
// removed, new ones start.
var _ = Network.has("N3_PodsEndWhenAllAddressesAreTaken", Needs{Network: true}, func(t T) {
	a := NewAgent(t, t.Runtime(), "")
	a.LoadNetwork("tiny", "10.92.0.0/29")
	var pods []string
	for _, name := range []string{"a", "b", "c", "d", "e"} { // of 8: network, gateway and broadcast are none
		pods = append(pods, a.RunPod(name))
	}
	for range 3 {
		_, err := a.TryRunPod(a.N.CRI().Pod("more"))
		require.ErrorContains(t, err, "no IP addresses available in range set")
	}
	assert.Len(t, a.AddressesTaken("tiny"), len(pods))
	a.RequirePodEnds(t, pods[0])
	pods[0] = a.RunPod("more")
	for _, pod := range pods {
		a.RequirePodEnds(t, pod)
	}
	a.RequireNothingLeft(t)
})

// Pods end though the configuration that they were set up with has changed since.
var _ = Network.has("N3_PodsEndThoughTheirConfigurationChanged", Needs{Network: true}, func(t T) {
	stuck := OnStock("the pod cannot be stopped")
	for name, s := range map[string]struct {
		change func(a *Agent)
		stock  Breach
	}{
		"removed": {(*Agent).UnloadNetwork, stuck},
		"made invalid": {func(a *Agent) {
			a.WriteConfig(NetFile, `{"cniVersion": "1.1.0", "name": "blue", "plugins": [`)
			RequireSoon(t, "no network to be loaded", func(ctx context.Context) error { return a.HasLoaded(ctx, "") })
		}, stuck},
		"replaced by another network": {func(a *Agent) { a.LoadNetwork("green", "10.90.0.0/24") }, OnStock("DEL runs for the other network, and the address leaks")},
		"removed and put back": {func(a *Agent) {
			a.UnloadNetwork()
			a.LoadNetwork("blue", "10.89.0.0/24")
		}, KeptOnStock},
	} {
		t.Run(name, func(t T) {
			a := NewAgent(t, t.Runtime(), "")
			first, second := a.RunPod("first"), a.RunPod("second")
			require.Len(t, a.AddressesTaken("blue"), 2)
			s.change(a)
			t.Promise("N3", "the first of two pods ends, and its address is freed", s.stock, func(t require.TestingT) {
				a.RequirePodEnds(t, first)
				assert.Len(t, a.AddressesTaken("blue"), 1)
			})
			t.Promise("N3", "the second ends, and nothing is left of either", s.stock, func(t require.TestingT) {
				a.RequirePodEnds(t, second)
				a.RequireNothingLeft(t)
			})
		})
	}
})

// One network replaces another, twice, while pods of all three run.
var _ = Network.has("N3_EachPodEndsWithItsOwnNetwork", Needs{Network: true}, func(t T) {
	a := NewAgent(t, t.Runtime(), "")
	var pods []string
	networks := []string{"blue", "green", "red"}
	leaks := OnStock("its address leaks")
	stock := []Breach{leaks, leaks, KeptOnStock} // the last one is loaded
	for i, name := range networks {
		a.LoadNetwork(name, []string{"10.89.0.0/24", "10.90.0.0/24", "10.91.0.0/24"}[i])
		pods = append(pods, a.RunPod(name))
		require.Len(t, a.AddressesTaken(name), 1)
	}
	for i, pod := range pods {
		t.Promise("N3", "a pod of "+networks[i]+" ends with its own network, and its address is freed", stock[i], func(t require.TestingT) {
			a.RequirePodEnds(t, pod)
			assert.Empty(t, a.AddressesTaken(networks[i]))
		})
	}
	t.Promise("N3", "nothing is left of the pods of three networks", OnStock("addresses of the networks before leak"), func(t require.TestingT) { a.RequireNothingLeft(t) })
})

// The runtime restarts, without the configuration.
var _ = Network.has("N3_PodsEndWithoutTheirConfigurationAfterARestart", Needs{Network: true, Restarts: true}, func(t T) {
	for name, s := range map[string]struct {
		change func(a *Agent)
		stock  Breach
	}{
		"replaced": {func(a *Agent) { a.LoadNetwork("green", "10.90.0.0/24") }, KeptOnStock},
		"removed":  {(*Agent).UnloadNetwork, OnStock("it cannot be stopped")},
	} {
		t.Run(name, func(t T) {
			a := NewAgent(t, t.Runtime(), "")
			pod := a.RunPod("web")
			s.change(a)
			require.NoError(t, a.N.Kill(WithinAMinute(t)))
			require.NoError(t, a.N.Boot(WithinAMinute(t)))
			t.Promise("N3", "a pod from before a restart ends without its configuration", s.stock, func(t require.TestingT) {
				a.RequirePodEnds(t, pod)
			})
			t.Promise("N3", "its address is freed, and nothing is left", OnStock("the address leaks"), func(t require.TestingT) { a.RequireNothingLeft(t) })
		})
	}
})
