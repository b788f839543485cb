// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
)

const cannotJoin = "it cannot join"

// Who joins during the hook of another plugin is asked as well: the pod is not
// Ready before all have agreed.
func TestL2_PodInItsHookIsToldToWhoJoinsWhoIsAsked(t *testing.T) {
	t.Parallel()
	n := startTarget(t, patient)
	slow, joining := plugin.New("10", "slow"), plugin.New("20", "joins")
	connect(t, n, slow)
	gate := newGate(t)
	slow.On(plugin.RunPodSandbox, gate.Hold)
	ctx, c := withinAMinute(t), n.CRI()
	var pod string
	ran := inBackground(func() (err error) { pod, err = c.RunPod(ctx, c.Pod("coming")); return err })
	requireClosed(t, gate.Entered(), "the hook")

	errJoined := <-connectInBackground(withinMoments(t), t, n, joining)
	gate.Release()
	require.NoError(t, <-ran)
	told := joining.Calls().Named("coming").Events() // by the time the pod is Ready
	require.NoError(t, c.StopPod(ctx, pod))
	require.NoError(t, c.RemovePod(ctx, pod))

	promise(t, "L13", "a plugin can join during the hook of another", onStock("it cannot"), func(t require.TestingT) {
		require.NoError(t, errJoined)
	})
	promise(t, "L2", "it is told of the pod in Synchronize", onStock(cannotJoin), func(t require.TestingT) {
		assert.Equal(t, 1, timesSynchronized(joining, "coming"), "times in Synchronize")
	})
	promise(t, "L2", "it is asked before the pod is ready", onStock(cannotJoin), func(t require.TestingT) {
		assert.Equal(t, []plugin.Event{plugin.RunPodSandbox}, told)
	})
	promise(t, "L3", "it is told of the end of the pod", onStock(cannotJoin), func(t require.TestingT) {
		assert.Equal(t, undone, joining.Calls().Named("coming").Events())
		reading := history.Read(joining.Calls(), nil)
		assert.Empty(t, reading.Faults())
		assert.Empty(t, reading.Alive())
	})
}
