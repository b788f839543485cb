// SPDX-License-Identifier: Apache-2.0

package network

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// While the network is down, no shim is started for any pod but the first.
func TestPodsStartNoShimWhileTheNetworkIsDown(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	calls := CountCalls(t, a.N, "bin/runc", "bin/containerd-shim-runc-v2")
	ctx, c := WithinAMinute(t), a.N.CRI()
	NewLife(t, a.N, "before").End(t)
	require.Equal(t, 1, calls.Of(t, "containerd-shim-runc-v2", "start"))

	a.Says("ADD", Fails)
	for _, name := range []string{"first", "second", "third"} {
		_, err := c.RunPod(ctx, c.Pod(name))
		require.ErrorContains(t, err, "failed to setup network for sandbox")
		require.ErrorContains(t, err, "out of luck")
	}
	assert.LessOrEqual(t, calls.Of(t, "containerd-shim-runc-v2", "start"), 2)

	a.Says("ADD", "")
	for _, name := range []string{"first", "second"} {
		NewLife(t, a.N, name).End(t)
	}
	RequireNothingLeft(t, a.N)
}
