// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

const readyAfterwards = "it is Ready"

// The runtime is killed while a pod's hook runs, so the pod is not Ready. Plugins that join
// afterwards receive it in Synchronize as not Ready, and receive its end.
var _ = Restart.has("L15_PodInterruptedInItsHookIsNotReady", Patient.AndRestarts(), func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "holds")
	Connect(t, n, p)
	pod := NewInHook(t, n, p, "interrupted")
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.Error(t, <-pod.Ran)
	pod.Gate.Release()
	require.NoError(t, n.Boot(WithinAMinute(t)))
	Connect(t, n, p)

	ctx, c := WithinAMinute(t), n.CRI()
	calls := p.Calls().Connections()[1]
	t.Promise("L15", "a plugin that joins receives the pod whose hook was interrupted, but not as Ready", KeptOnStock, func(t require.TestingT) {
		pods := calls.Only(plugin.Synchronize)[0].Pods
		require.Len(t, pods, 1)
		assert.Equal(t, pod.ID, pods[0].GetId())
		assert.NotContains(t, string(pods[0].ProtoReflect().GetUnknown()), string(ReadyState))
	})
	t.Promise("L15", "CRI shows the pod as not Ready", OnStock(readyAfterwards), func(t require.TestingT) {
		RequireNoPodReady(ctx, t, c)
		pods, err := c.Pods(ctx)
		require.NoError(t, err)
		require.Len(t, pods, 1)
	})
	_, errCreate := c.Create(ctx, pod.ID, pod.Config, c.Container("none"))
	t.Promise("L15", "no container can be created in the pod", OnStock(readyAfterwards), func(t require.TestingT) { assert.Error(t, errCreate) })
	RemoveAllPods(ctx, t, c)
	t.Promise("L15", "a plugin that joined receives the end of the pod", OnStock("it does not receive the end"), Eventually(func(t require.TestingT) {
		record := p.Calls().Connections()[1]
		assert.Equal(t, Undone[1:], record.Of(pod.ID).Events())
		reading := history.Read(record, nil, p.Calls().Connections()[0])
		assert.Empty(t, reading.Faults())
		assert.Empty(t, reading.Alive())
	}))
	t.Promise("L15", "nothing is left of the pod once it is removed", KeptOnStock, func(t require.TestingT) { RequireNothingLeft(t, n) })
	t.Promise("L15", "the pod can be created again", KeptOnStock, func(t require.TestingT) { RequirePodRunsAgain(t, n, pod.Config) })
})
