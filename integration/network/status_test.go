// SPDX-License-Identifier: Apache-2.0

package network

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// STATUS has a timeout, also if it leaves processes behind. Cases in conformance/cases test its
// answers.
func TestN1_StatusThatHangsHasTimedOut(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]struct{ script, reason, message string }{
		"hangs":             {Hangs, "NetworkStatusTimeout", "no answer within 2s"},
		"leaves grandchild": {Grandchild + Hangs, "NetworkStatusTimeout", "no answer within 2s"},
		// It has answered, though another process still holds its pipes.
		"answers and leaves grandchild": {Grandchild + TakesNone, "NetworkNotAvailable", "agent is down"},
	} {
		t.Run(name, func(t *testing.T) {
			a := StartAgent(t, "status_timeout = '2s'")
			a.RequireNetworkReady(t)
			a.Says("STATUS", s.script)
			Promise(t, "N1", "NetworkReady is false, with the reason", OnStock("the call waits for the plugin"), func(t require.TestingT) {
				a.RequireNetworkNotReady(t, s.reason, s.message)
			})
			a.Says("STATUS", "")
			Promise(t, "N1", "NetworkReady is true again once STATUS succeeds", KeptOnStock, func(t require.TestingT) { a.RequireNetworkReady(t) })
		})
	}
}
