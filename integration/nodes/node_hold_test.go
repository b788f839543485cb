// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// A creation that the runtime aborts never reaches its hold.
func TestHoldIsReleasedBeforeItIsReached(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	hold, err := n.HoldAt(node.Before("ptp", "ADD"), "late")
	require.NoError(t, err)
	require.NoError(t, hold.Release())
	NewLife(t, n, "late").End(t)
}
