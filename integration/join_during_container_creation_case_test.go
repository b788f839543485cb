// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// containerd/containerd#13698
func TestL2_ContainerBeingCreatedIsToldToWhoJoinsOnce(t *testing.T) {
	t.Parallel()
	n := startTarget(t, patient)
	slow, joining := plugin.New("10", "slow"), plugin.New("20", "joins")
	connect(t, n, slow)
	ctx, c := withinAMinute(t), n.CRI()
	config := c.Pod("filling")
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	gate := newGate(t)
	slow.On(plugin.CreateContainer, gate.Hold)
	var container string
	created := inBackground(func() (err error) {
		container, err = c.Create(ctx, pod, config, c.Container("main"))
		return err
	})
	requireClosed(t, gate.Entered(), "CreateContainer")

	errJoined := <-connectInBackground(withinMoments(t), t, n, joining)
	gate.Release()
	require.NoError(t, <-created)
	calls := joining.Calls()
	require.NoError(t, c.Remove(ctx, container))

	promise(t, "L13", "a plugin can join while another is asked about a container", onStock("it cannot"), func(t require.TestingT) {
		require.NoError(t, errJoined)
	})
	promise(t, "L2", "it is told of the container once", onStock(cannotJoin), func(t require.TestingT) {
		told := len(calls.Only(plugin.CreateContainer))
		for _, call := range calls.Only(plugin.Synchronize) {
			for _, known := range call.Containers {
				assert.Equal(t, container, known.GetId())
				told++
			}
		}
		assert.Equal(t, 1, told, "times told of the container")
		assert.Len(t, calls.Only(plugin.PostCreateContainer), 1)
		assert.Empty(t, history.Read(joining.Calls(), nil).Faults())
	})
	promise(t, "L3", "it is told of the end of the container", onStock(cannotJoin), func(t require.TestingT) {
		assert.Len(t, joining.Calls().Only(plugin.StopContainer, plugin.RemoveContainer), 2)
	})
	require.NoError(t, c.RemovePod(ctx, pod))
	requireNothingLeft(t, n)
}
