// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A stop fails after plugins received it, and is repeated. Plugins do not receive it again.
func TestL11_StopThatFailedIsNotDeliveredAgain(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, c := WithinAMinute(t), n.CRI()
	pod, p := requireFailsAtDEL(t, n, c.StopPod)

	require.NoError(t, c.StopPod(ctx, pod))
	require.NoError(t, c.RemovePod(ctx, pod))
	require.Equal(t, Undone, p.Calls().Of(pod).Events())
	RequireNothingLeft(t, n)
}

// A removal whose stop fails half-way leaves the pod in the list. The repeated removal removes it.
func TestL11_RemovalThatFailedCanBeRepeated(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, c := WithinAMinute(t), n.CRI()
	pod, p := requireFailsAtDEL(t, n, c.RemovePod)
	require.Contains(t, CallsThatShow(ctx, t, n, pod), "ListPodSandbox")

	require.NoError(t, c.RemovePod(ctx, pod))
	require.Equal(t, Undone, p.Calls().Of(pod).Events())
	RequireNothingLeft(t, n)
}

// requireFailsAtDEL makes an end of a pod fail after a plugin has received the stop.
func requireFailsAtDEL(t *testing.T, n *node.Node, end func(ctx context.Context, pod string) error) (pod string, p *plugin.Plugin) {
	t.Helper()
	p = plugin.New("10", "receives")
	Connect(t, n, p)
	ctx := WithinAMinute(t)
	pod, err := n.CRI().RunPod(ctx, n.CRI().Pod("stuck"))
	require.NoError(t, err)
	del, err := n.HoldAt(node.Before("ptp", "DEL"), "stuck")
	require.NoError(t, err)
	ended := InBackground(func() error { return end(ctx, pod) })
	require.NoError(t, del.Entered(ctx))
	require.NoError(t, del.Fail())
	require.ErrorContains(t, <-ended, "held and failed")
	require.Equal(t, Undone[:2], p.Calls().Of(pod).Events())
	return pod, p
}
