// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// A pod that a runtime gives up never comes to where it would be held.
func TestHoldIsReleasedWithoutASuccessor(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	hold, err := n.HoldAt(node.Before("ptp", "ADD"), "late")
	require.NoError(t, err)
	require.NoError(t, hold.Release())
	NewLife(t, n, "late").End(t)
}
