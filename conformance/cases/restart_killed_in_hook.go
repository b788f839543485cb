// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

const readyAfterwards = "it is ready"

// A pod whose hook was cut is nobody's ready pod: plugins that join afterwards
// hear of it, and of its end, but not that it came to be.
var _ = Restart.has("L15_PodThatWasCutInItsHookIsNotReady", Patient.AndRestarts(), func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "holds")
	Connect(t, n, p)
	pod := NewInHook(t, n, p, "cut")
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.Error(t, <-pod.Ran)
	pod.Gate.Release()
	require.NoError(t, n.Boot(WithinAMinute(t)))
	Connect(t, n, p)

	ctx, c := WithinAMinute(t), n.CRI()
	calls := p.Calls().Connections()[1]
	t.Promise("L15", "who joins is told of a pod that was cut in its hook, but not as ready", KeptOnStock, func(t require.TestingT) {
		pods := calls.Only(plugin.Synchronize)[0].Pods
		require.Len(t, pods, 1)
		assert.Equal(t, pod.ID, pods[0].GetId())
		assert.NotContains(t, string(pods[0].ProtoReflect().GetUnknown()), string(ReadyState))
	})
	t.Promise("L15", "CRI shows it as not ready", OnStock(readyAfterwards), func(t require.TestingT) {
		RequireNoPodReady(ctx, t, c)
		pods, err := c.Pods(ctx)
		require.NoError(t, err)
		require.Len(t, pods, 1)
	})
	_, errCreate := c.Create(ctx, pod.ID, pod.Config, c.Container("none"))
	t.Promise("L15", "no container can be created in it", OnStock(readyAfterwards), func(t require.TestingT) { assert.Error(t, errCreate) })
	RemoveAllPods(ctx, t, c)
	t.Promise("L15", "who joined is told of its end", OnStock("its end is not told"), Eventually(func(t require.TestingT) {
		record := p.Calls().Connections()[1]
		assert.Equal(t, Undone[1:], record.Of(pod.ID).Events())
		reading := history.Read(record, nil, p.Calls().Connections()[0])
		assert.Empty(t, reading.Faults())
		assert.Empty(t, reading.Alive())
	}))
	t.Promise("L15", "nothing is left of it once it is removed", KeptOnStock, func(t require.TestingT) { RequireNothingLeft(t, n) })
	t.Promise("L15", "it can be created again", KeptOnStock, func(t require.TestingT) { RequirePodRunsAgain(t, n, pod.Config) })
})
