// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/fixture"
)

// NetworkReady is the STATUS of the network, and says what of it.
func TestN1_NetworkReadyIsTheStatusOfTheNetwork(t *testing.T) {
	t.Parallel()
	oneReason, waits := onStock("one reason for all"), onStock("the call waits for the plugin")
	for name, s := range map[string]struct {
		script, reason, message string
		stock                   breach
	}{
		"cannot add":        {fixture.TakesNone, "NetworkNotAvailable", "agent is down; no socket", oneReason},
		"degraded":          {fixture.Degraded, "NetworkDegraded", "no route to the pods", oneReason},
		"try again":         {fixture.Later, "NetworkTryAgainLater", "still starting", oneReason},
		"another error":     {fixture.Fails, "NetworkStatusError", "out of luck", oneReason},
		"garbage":           {fixture.Garbage, "NetworkStatusExecFailed", "panic: what?", oneReason},
		"hangs":             {fixture.Hangs, "NetworkStatusTimeout", "no answer within 2s", waits},
		"leaves grandchild": {fixture.Grandchild + fixture.Hangs, "NetworkStatusTimeout", "no answer within 2s", waits},
		// It has answered, whoever still has its pipes.
		"answers and leaves grandchild": {fixture.Grandchild + fixture.TakesNone, "NetworkNotAvailable", "agent is down", waits},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, "status_timeout = '2s'")
			a.RequireNetworkReady(t)
			a.Says("STATUS", s.script)
			promise(t, "N1", "NetworkReady is false, with the reason and the plugin's words", s.stock, func(t require.TestingT) {
				a.RequireNetworkNotReady(t, s.reason, s.message)
			})
			a.Says("STATUS", "")
			promise(t, "N1", "it is true again once STATUS succeeds", keptOnStock, func(t require.TestingT) { a.RequireNetworkReady(t) })
		})
	}
}

// A network that comes and goes.
func TestN1_NetworkReadyFollowsAStatusThatFlaps(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	for range 5 {
		a.Says("STATUS", fixture.TakesNone)
		a.RequireNetworkDown(t, "agent is down")
		a.Says("STATUS", "")
		a.RequireNetworkReady(t)
	}
	pod := a.RunPod("after")
	a.RequirePodEnds(t, pod)
	a.RequireNoAddressTaken(t, "blue")
}
