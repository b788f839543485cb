// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/suite"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A stop that fails half-way is repeated, but not told again.
func TestL11_StopThatFailedIsNotToldAgain(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	p := plugin.New("10", "told")
	Connect(t, n, p)
	ctx, c := WithinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("stuck"))
	require.NoError(t, err)
	del, err := n.HoldAt(node.Before("ptp", "DEL"), "stuck")
	require.NoError(t, err)
	stopped := InBackground(func() error { return c.StopPod(ctx, pod) })
	require.NoError(t, del.Entered(ctx))
	require.NoError(t, del.Fail())
	require.ErrorContains(t, <-stopped, "held and failed")
	require.Equal(t, Undone[:2], p.Calls().Of(pod).Events())

	require.NoError(t, c.StopPod(ctx, pod))
	require.NoError(t, c.RemovePod(ctx, pod))
	require.Equal(t, Undone, p.Calls().Of(pod).Events())
	RequireNothingLeft(t, n)
}

// A removal whose stop fails half-way leaves the pod in the list, and removes
// it when it is repeated.
func TestL11_RemovalThatFailedCanBeRepeated(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	p := plugin.New("10", "told")
	Connect(t, n, p)
	ctx, c := WithinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("stuck"))
	require.NoError(t, err)
	del, err := n.HoldAt(node.Before("ptp", "DEL"), "stuck")
	require.NoError(t, err)
	removed := InBackground(func() error { return c.RemovePod(ctx, pod) })
	require.NoError(t, del.Entered(ctx))
	require.NoError(t, del.Fail())
	require.ErrorContains(t, <-removed, "held and failed")
	require.Equal(t, Undone[:2], p.Calls().Of(pod).Events())
	require.Contains(t, CallsThatShow(ctx, t, n, pod), "ListPodSandbox")

	require.NoError(t, c.RemovePod(ctx, pod))
	require.Equal(t, Undone, p.Calls().Of(pod).Events())
	RequireNothingLeft(t, n)
}
