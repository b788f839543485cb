// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

func TestL11_PodInItsADDCanBeStopped(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	p := plugin.New("10", "receives")
	Connect(t, n, p)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Pod("unwanted")
	add, ran := HoldCreation(ctx, t, n, node.After("ptp", "ADD"), config)
	records, err := n.Containerd().SandboxStore().List(ctx)
	require.NoError(t, err)
	require.Len(t, records, 1)

	errStop := c.StopPod(ctx, records[0].ID)
	Promise(t, "L11", "a pod in its ADD can be stopped", OnStock("it cannot be stopped, and becomes Ready"), func(t require.TestingT) {
		require.NoError(t, errStop)
		assert.ErrorContains(t, RequireEnds(t, ran, "RunPodSandbox"), "was stopped while it was being created")
	})
	require.NoError(t, add.Release())
	Promise(t, "L7", "nothing is left of the pod", OnStock("it becomes Ready"), func(t require.TestingT) { RequireNothingLeft(t, n) })
	Promise(t, "L3", "plugins that do not know the pod do not receive its end", OnStock("they are asked about the pod"), func(t require.TestingT) {
		assert.Empty(t, p.Calls().Named("unwanted").Events())
	})
	Promise(t, "L7", "the pod can be created again at once", OnStock("it exists"), func(t require.TestingT) {
		RequirePodRunsAgain(t, n, config)
	})
}
