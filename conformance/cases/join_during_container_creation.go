// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// containerd/containerd#13698
var _ = Joining.has("L2_JoiningPluginReceivesAContainerInCreationOnce", Patient, func(t T) {
	n := t.Runtime()
	slow, joining := NewPlugin(t, "10", "slow"), NewPlugin(t, "20", "joins")
	Connect(t, n, slow)
	ctx, c := WithinAMinute(t), n.CRI()
	container := NewInCreation(t, n, slow, "filling")

	errJoined := <-ConnectInBackground(WithinMoments(t), t, n, joining)
	container.Gate.Release()
	require.NoError(t, <-container.Created)
	calls := joining.Calls()
	require.NoError(t, c.Remove(ctx, container.ID))

	t.Promise("L13", "a plugin can join while another is asked about a container", OnStock(CannotJoin), func(t require.TestingT) {
		require.NoError(t, errJoined)
	})
	t.Promise("L2", "it receives the container once", OnStock(CannotJoin), func(t require.TestingT) {
		received := len(calls.Only(plugin.CreateContainer))
		for _, call := range calls.Only(plugin.Synchronize) {
			for _, known := range call.Containers {
				assert.Equal(t, container.ID, known.GetId())
				received++
			}
		}
		assert.Equal(t, 1, received, "times that it received the container")
		assert.Len(t, calls.Only(plugin.PostCreateContainer), 1)
		assert.Empty(t, history.Read(joining.Calls(), nil).Faults())
	})
	t.Promise("L3", "it receives the end of the container", OnStock(CannotJoin), func(t require.TestingT) {
		assert.Len(t, joining.Calls().Only(plugin.StopContainer, plugin.RemoveContainer), 2)
	})
	require.NoError(t, c.RemovePod(ctx, container.Pod))
	RequireNothingLeft(t, n)
})
