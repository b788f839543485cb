// SPDX-License-Identifier: Apache-2.0

package network

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/suite"
)

// NetworkReady is the STATUS of the network, and says what of it.
func TestN1_NetworkReadyIsTheStatusOfTheNetwork(t *testing.T) {
	t.Parallel()
	oneReason, waits := OnStock("one reason for all"), OnStock("the call waits for the plugin")
	for name, s := range map[string]struct {
		script, reason, message string
		stock                   Breach
	}{
		"cannot add":        {TakesNone, "NetworkNotAvailable", "agent is down; no socket", oneReason},
		"degraded":          {Degraded, "NetworkDegraded", "no route to the pods", oneReason},
		"try again":         {Later, "NetworkTryAgainLater", "still starting", oneReason},
		"another error":     {Fails, "NetworkStatusError", "out of luck", oneReason},
		"garbage":           {Garbage, "NetworkStatusExecFailed", "panic: what?", oneReason},
		"hangs":             {Hangs, "NetworkStatusTimeout", "no answer within 2s", waits},
		"leaves grandchild": {Grandchild + Hangs, "NetworkStatusTimeout", "no answer within 2s", waits},
		// It has answered, whoever still has its pipes.
		"answers and leaves grandchild": {Grandchild + TakesNone, "NetworkNotAvailable", "agent is down", waits},
	} {
		t.Run(name, func(t *testing.T) {
			a := StartAgent(t, "status_timeout = '2s'")
			a.RequireNetworkReady(t)
			a.Says("STATUS", s.script)
			Promise(t, "N1", "NetworkReady is false, with the reason and the plugin's words", s.stock, func(t require.TestingT) {
				a.RequireNetworkNotReady(t, s.reason, s.message)
			})
			a.Says("STATUS", "")
			Promise(t, "N1", "it is true again once STATUS succeeds", KeptOnStock, func(t require.TestingT) { a.RequireNetworkReady(t) })
		})
	}
}

// A network that comes and goes.
func TestN1_NetworkReadyFollowsAStatusThatFlaps(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	for range 5 {
		a.Says("STATUS", TakesNone)
		a.RequireNetworkDown(t, "agent is down")
		a.Says("STATUS", "")
		a.RequireNetworkReady(t)
	}
	pod := a.RunPod("after")
	a.RequirePodEnds(t, pod)
	a.RequireNoAddressTaken(t, "blue")
}
