// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// NetworkReady follows the STATUS of the network, and gives its message.
var _ = Network.has("N1_NetworkReadyIsTheStatusOfTheNetwork", Needs{Network: true}, func(t T) {
	a := NewAgent(t, t.Runtime(), "")
	for _, s := range []struct{ name, script, message, reason, details string }{
		{"cannot add", TakesNone, "agent is down", "NetworkNotAvailable", "no socket"},
		{"degraded", Degraded, "no route to the pods", "NetworkDegraded", ""},
		{"try again", Later, "still starting", "NetworkTryAgainLater", ""},
		{"another error", Fails, "out of luck", "NetworkStatusError", ""},
		{"no answer", Garbage, "panic: what?", "NetworkStatusExecFailed", ""},
	} {
		a.RequireNetworkReady(t)
		a.Says("STATUS", s.script)
		t.Promise("N1", "NetworkReady is false with the plugin's message: "+s.name, KeptOnStock, func(t require.TestingT) { a.RequireNetworkDown(t, s.message) })
		t.Words("N1", "the reason depends on the answer: "+s.name, OnStock("all answers have one reason"), func(t require.TestingT) {
			a.RequireNetworkNotReady(t, s.reason, s.details)
		})
		a.Says("STATUS", "")
		t.Promise("N1", "NetworkReady is true again once STATUS succeeds: "+s.name, KeptOnStock, func(t require.TestingT) { a.RequireNetworkReady(t) })
	}
})

var _ = Network.has("N1_NetworkWithoutConfigurationIsNotReady", Needs{Network: true}, func(t T) {
	a := NewAgent(t, t.Runtime(), "")
	a.UnloadNetwork()
	t.Promise("N1", "NetworkReady is false without a configuration", KeptOnStock, func(t require.TestingT) { a.RequireNetworkDown(t, "") })
	a.LoadNetwork("green", "10.90.0.0/24")
	t.Promise("N1", "NetworkReady is true once a configuration exists", KeptOnStock, func(t require.TestingT) { a.RequireNetworkReady(t) })
})

// While STATUS hangs, CRI's Status returns the previous answer, and runs no further STATUS.
var _ = Network.has("N1_HungStatusDelaysNoCall", Needs{Network: true}, func(t T) {
	a := NewAgent(t, t.Runtime(), "")
	a.RequireNetworkReady(t)
	a.Says("STATUS", Hangs)
	log := t.Logf
	t.Promise("N1", "no call of CRI's Status waits for a STATUS that hangs", OnStock("each call waits for the plugin"), func(t require.TestingT) {
		a.RequireHangs()
		ctx, cancel := context.WithTimeout(context.Background(), Moments)
		defer cancel()
		var calls sync.WaitGroup
		took := make([]time.Duration, 200)
		for i := range took {
			calls.Go(func() {
				began := time.Now()
				c, err := a.NetworkCondition(ctx)
				took[i] = time.Since(began)
				assert.NoError(t, err)
				assert.True(t, c.GetStatus(), "the previous answer")
			})
		}
		calls.Wait()
		assert.Less(t, slices.Max(took), Moments/2, "a call that waits for the plugin waits for as long as it hangs")
		log("200 calls at once: the slowest took %s", slices.Max(took))
	})
	t.Words("N1", "STATUS runs once for all calls", SometimesOnStock("each call runs it"), func(t require.TestingT) {
		assert.Equal(t, 1, a.TimesHung())
	})
})

// While STATUS hangs, pods are created and removed, and the configuration is reloaded.
var _ = Network.has("N4_HungStatusDelaysNoPodAndNoReload", Needs{Network: true}, func(t T) {
	a := NewAgent(t, t.Runtime(), "")
	before := a.RunPod("before")
	a.RequireNetworkReady(t)
	a.Says("STATUS", Hangs)
	a.RequireHangs()
	var during string
	t.Promise("N4", "a pod is created while STATUS hangs", KeptOnStock, func(t require.TestingT) {
		pod, err := a.TryRunPod(a.N.CRI().Pod("during"))
		require.NoError(t, err)
		during = pod
	})
	t.Promise("N4", "a configuration is loaded while STATUS hangs", OnStock("a reload waits for STATUS"), func(t require.TestingT) {
		a.Write(t, "green", "10.90.0.0/24")
		RequireSoon(t, "another network to be loaded", func(ctx context.Context) error { return a.HasLoaded(ctx, "green") })
	})
	t.Promise("N4", "pods end while STATUS hangs", OnStock("everything waits for a reload that waits for STATUS"), func(t require.TestingT) {
		a.RequirePodEnds(t, before)
		a.RequirePodEnds(t, during)
		a.RequireNoAddressTaken(t, "blue", "green")
	})
})

// While STATUS fails no ADD runs. Operations that need no network go on.
var _ = Network.has("N2_PodsAreRejectedWhileStatusFails", Needs{Network: true}, func(t T) {
	a := NewAgent(t, t.Runtime(), "")
	old, c := a.RunPod("old"), a.N.CRI()
	a.Says("STATUS", TakesNone)
	a.RequireNetworkDown(t, "agent is down")
	_, errNew := a.TryRunPod(c.Pod("new"))
	const getsADD = "ADD runs for the pod, or waits"
	t.Promise("N2", "a pod that needs the network is rejected, and the error says why", OnStock(getsADD), func(t require.TestingT) {
		require.ErrorContains(t, errNew, "agent is down")
	})
	t.Promise("N2", "no ADD runs", OnStock(getsADD), func(t require.TestingT) { assert.Zero(t, a.TimesAsked("ADD", "new")) })
	t.Promise("N2", "a pod on the host's network starts and ends", KeptOnStock, func(t require.TestingT) {
		pod, err := a.TryRunPod(OnHostNetwork(c.Pod("host")))
		require.NoError(t, err)
		a.RequirePodEnds(t, pod)
	})
	t.Promise("N3", "a pod that was created before ends", KeptOnStock, func(t require.TestingT) { a.RequirePodEnds(t, old) })
	t.Promise("N2", "nothing is left of the rejected pod", OnStock(getsADD), func(t require.TestingT) { a.RequireNothingLeft(t) })

	a.Says("STATUS", "")
	t.Promise("N2", "STATUS runs once more before a pod is rejected", OnStock("the pod exists"), func(t require.TestingT) {
		pod, err := a.TryRunPod(c.Pod("new"))
		require.NoError(t, err)
		a.RequirePodEnds(t, pod)
		a.RequireNoAddressTaken(t, "blue")
	})
})
