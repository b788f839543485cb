// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// slow is a STATUS that is slow, and does not time out.
const slow = `sleep 3`

// The runtime restarts, and STATUS is slow: the node stays ready.
func TestN1_RestartMakesNoNetworkNotReady(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	a.RequireNetworkReady(t)
	a.Says("STATUS", slow)
	require.NoError(t, a.N.Kill(WithinAMinute(t)))

	watched := WatchNetwork(t, a.N)
	require.NoError(t, a.N.Boot(WithinAMinute(t)))
	all := watched()
	Promise(t, "N1", "NetworkReady is true from the first answer on", KeptOnStock, func(t require.TestingT) {
		for _, c := range all {
			require.True(t, c.GetStatus(), c)
		}
	})
}

// Each transition is one line in the log, with the plugin and the reason.
func TestL17_TransitionsOfANetworkAreLoggedOnce(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	for range 2 {
		a.Says("STATUS", TakesNone)
		a.RequireNetworkDown(t, "agent is down")
		a.Says("STATUS", "")
		a.RequireNetworkReady(t)
	}
	Promise(t, "L17", "each transition of a network is logged once, with plugin and reason", OnStock("none is logged"), func(t require.TestingT) {
		const takesPods = `msg="network takes pods" before=not_available`
		var log string
		RequireSoon(t, "the last transition, whose log line follows the status", func(context.Context) (err error) {
			if log, err = a.N.Log(); err == nil && strings.Count(log, takesPods) < 2 {
				err = errors.New("it is not logged")
			}
			return err
		})
		var down, up int
		for line := range strings.Lines(log) {
			switch {
			case strings.Contains(line, "network takes no pods") && strings.Contains(line, "network=blue"):
				down++
				assert.Contains(t, line, "plugin=conformance-agent")
				assert.Contains(t, line, "reason=NetworkNotAvailable")
				assert.Contains(t, line, "agent is down; no socket")
			case strings.Contains(line, takesPods):
				up++
			}
		}
		assert.Equal(t, 2, down, "though STATUS ran %d times", a.TimesAsked("STATUS", ""))
		assert.Equal(t, 2, up)
	})
}
