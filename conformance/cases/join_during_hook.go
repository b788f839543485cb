// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A plugin that joins during the hook of another one is asked as well: the pod becomes Ready
// once all have approved it.
var _ = Joining.has("L2_JoiningPluginReceivesAPodInItsHookAndIsAsked", Patient, func(t T) {
	n := t.Runtime()
	slow, joining := NewPlugin(t, "10", "slow"), NewPlugin(t, "20", "joins")
	Connect(t, n, slow)
	pod := NewInHook(t, n, slow, "coming")

	errJoined := <-ConnectInBackground(WithinMoments(t), t, n, joining)
	pod.Gate.Release()
	require.NoError(t, <-pod.Ran)
	received := joining.Calls().Named("coming").Events() // by the time the pod is Ready
	EndPod(WithinAMinute(t), t, n, pod.ID)

	t.Promise("L13", "a plugin can join during the hook of another", OnStock(CannotJoin), func(t require.TestingT) {
		require.NoError(t, errJoined)
	})
	t.Promise("L2", "it receives the pod in Synchronize", OnStock(CannotJoin), func(t require.TestingT) {
		assert.Equal(t, 1, TimesSynchronized(joining, "coming"), "times in Synchronize")
	})
	t.Promise("L2", "it is asked before the pod becomes Ready", OnStock(CannotJoin), func(t require.TestingT) {
		assert.Equal(t, []plugin.Event{plugin.RunPodSandbox}, received)
	})
	t.Promise("L3", "it receives the end of the pod", OnStock(CannotJoin), func(t require.TestingT) {
		assert.Equal(t, Undone, joining.Calls().Named("coming").Events())
		reading := history.Read(joining.Calls(), nil)
		assert.Empty(t, reading.Faults())
		assert.Empty(t, reading.Alive())
	})
})
