// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// Somebody who connects and says nothing keeps no plugin from registering.
func TestL13_RegistrationThatStallsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	n := startTarget(t, timeouts{registration: 30 * time.Second})
	silent, err := new(net.Dialer).DialContext(withinAMinute(t), "unix", n.NRISocket())
	require.NoError(t, err)
	defer silent.Close()

	errJoin := <-connectInBackground(withinMoments(t), t, n, plugin.New("10", "prompt"))
	promise(t, "L13", "plugins register while another one stalls", onStock("they register one at a time, and wait"), func(t require.TestingT) {
		assert.NoError(t, errJoin)
	})
}
