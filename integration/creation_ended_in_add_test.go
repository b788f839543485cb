// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

func TestL11_PodInItsADDCanBeStopped(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	p := plugin.New("10", "told")
	connect(t, n, p)
	ctx, c := withinAMinute(t), n.CRI()
	config := c.Pod("unwanted")
	add, err := n.HoldAt(node.After("ptp", "ADD"), "unwanted")
	require.NoError(t, err)
	ran := inBackground(func() error { _, err := c.RunPod(ctx, config); return err })
	require.NoError(t, add.Entered(ctx))
	records, err := n.Containerd().SandboxStore().List(ctx)
	require.NoError(t, err)
	require.Len(t, records, 1)

	errStop := c.StopPod(ctx, records[0].ID)
	promise(t, "L11", "a pod in its ADD can be stopped", onStock("it cannot, and becomes ready"), func(t require.TestingT) {
		require.NoError(t, errStop)
		assert.ErrorContains(t, requireEnds(t, ran, "RunPodSandbox"), "was stopped while it was being created")
	})
	require.NoError(t, add.Release())
	promise(t, "L7", "nothing is left of it", onStock("it becomes ready"), func(t require.TestingT) { requireNothingLeft(t, n) })
	promise(t, "L3", "plugins that were not told of it are not told of its end", onStock("they are asked for it"), func(t require.TestingT) {
		assert.Empty(t, p.Calls().Named("unwanted").Events())
	})
	promise(t, "L7", "it can be created again at once", onStock("it is there"), func(t require.TestingT) {
		requirePodRunsAgain(t, n, config)
	})
}
