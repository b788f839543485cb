// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A runtime that restarts drops a shim that does not answer, and its pod. Plugins receive that.
func TestL22_ShimThatDoesNotAnswerKeepsNoRuntimeFromStarting(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, c := WithinAMinute(t), n.CRI()
	hung, other := NewLife(t, n, "hung"), NewLife(t, n, "other")
	FreezeShim(t, n, hung.Pod)
	require.NoError(t, n.Kill(ctx))
	errBoot := n.Boot(ctx)
	back := plugin.New("10", "back")
	errJoined := <-ConnectInBackground(WithinMoments(t), t, n, back)

	Promise(t, "L22", "the runtime starts although a shim does not answer", KeptOnStock, func(t require.TestingT) { require.NoError(t, errBoot) })
	Promise(t, "L22", "plugins join, and receive all pods", KeptOnStock, func(t require.TestingT) {
		require.NoError(t, errJoined)
		synchronize := back.Calls().Only(plugin.Synchronize)[0]
		assert.Len(t, synchronize.Pods, 2)
		require.Len(t, synchronize.Containers, 1, "the container of the shim that does not answer has ended")
		assert.Equal(t, other.Container, synchronize.Containers[0].GetId())
	})
	errStop, errRemove := c.StopPod(ctx, hung.Pod), c.RemovePod(ctx, hung.Pod)
	Promise(t, "L8", "the pod of the shim can be stopped and removed", KeptOnStock, func(t require.TestingT) {
		assert.NoError(t, errStop)
		assert.NoError(t, errRemove)
	})
	Promise(t, "L15", "plugins receive the end of the pod", OnStock("the end is not delivered"), Eventually(func(t require.TestingT) {
		assert.Equal(t, Undone[1:], back.Calls().Of(hung.Pod).Only(Undone...).Events())
		assert.Empty(t, history.Read(back.Calls(), nil).Faults())
	}))
	RequirePodRunsAgain(t, n, c.Pod("hung"))
	other.End(t)
}

// A shim answers for itself, and not for a container whose update hangs.
func TestL15_ContainerWhoseStateIsNotKnownIsDelivered(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, c := WithinAMinute(t), n.CRI()
	l := NewLife(t, n, "changing")
	stuck := StickUpdates(t, n)
	updated := UpdateInBackground(t, n, l.Container)
	stuck.RequireEntered(t)
	require.NoError(t, n.Kill(ctx))
	require.Error(t, <-updated)
	require.NoError(t, n.Boot(ctx))
	back := plugin.New("10", "back")
	Connect(t, n, back)

	Promise(t, "L15", "a plugin that joins receives a container whose shim does not report its state", OnStock("it is left out"), func(t require.TestingT) {
		containers := back.Calls().Only(plugin.Synchronize)[0].Containers
		require.Len(t, containers, 1)
		assert.Equal(t, l.Container, containers[0].GetId())
		assert.Equal(t, api.ContainerState_CONTAINER_UNKNOWN, containers[0].GetState())
	})
	stuck.Release()
	require.NoError(t, c.StopPod(ctx, l.Pod))
	require.NoError(t, c.RemovePod(ctx, l.Pod))
	Promise(t, "L15", "the plugin receives the container's end", OnStock("the end is not delivered"), Eventually(func(t require.TestingT) {
		assert.ElementsMatch(t, EveryEnd, back.Calls().Of(l.Pod).Events())
		reading := history.Read(back.Calls(), nil)
		assert.Empty(t, reading.Faults())
		assert.Empty(t, reading.Alive())
	}))
}
