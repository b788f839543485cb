// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"net"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// A client that connects and sends nothing does not keep plugins from registering.
var _ = Joining.has("L13_StalledRegistrationBlocksNoOther", Holding, func(t T) {
	n := t.Runtime()
	silent, err := new(net.Dialer).DialContext(WithinAMinute(t), "unix", n.NRISocket())
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })

	errJoin := <-ConnectInBackground(WithinMoments(t), t, n, NewPlugin(t, "10", "prompt"))
	t.Promise("L13", "plugins register while the registration of another one stalls", OnStock("they register one at a time, and wait"), func(t require.TestingT) {
		assert.NoError(t, errJoin)
	})
})
