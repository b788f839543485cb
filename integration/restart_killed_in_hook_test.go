// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// readyState is the state of a ready pod in its field 1000, as it is on the wire.
var readyState = []byte{0xc0, 0x3e, 2}

const readyAfterwards = "it is ready"

// A pod whose hook was cut is nobody's ready pod: plugins that join afterwards
// hear of it, and of its end, but not that it came to be.
func TestL15_PodThatWasCutInItsHookIsNotReady(t *testing.T) {
	t.Parallel()
	n := startNode(t, patient.set)
	p := plugin.New("10", "holds")
	connect(t, n, p)
	pod := newInHook(t, n, p, "cut")
	require.NoError(t, n.Kill(withinAMinute(t)))
	require.Error(t, <-pod.ran)
	pod.gate.Release()
	require.NoError(t, n.Boot(withinAMinute(t)))
	connect(t, n, p)

	ctx, c := withinAMinute(t), n.CRI()
	calls := p.Calls().Connections()[1]
	promise(t, "L15", "who joins is told of a pod that was cut in its hook, but not as ready", keptOnStock, func(t require.TestingT) {
		pods := calls.Only(plugin.Synchronize)[0].Pods
		require.Len(t, pods, 1)
		assert.Equal(t, pod.id, pods[0].GetId())
		assert.NotContains(t, string(pods[0].ProtoReflect().GetUnknown()), string(readyState))
	})
	promise(t, "L15", "CRI shows it as not ready", onStock(readyAfterwards), func(t require.TestingT) {
		requireNoPodReady(ctx, t, c)
		r, err := c.Runtime.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{})
		require.NoError(t, err)
		require.Len(t, r.GetItems(), 1)
	})
	_, errCreate := c.Create(ctx, pod.id, pod.config, c.Container("none"))
	promise(t, "L15", "no container can be created in it", onStock(readyAfterwards), func(t require.TestingT) { assert.Error(t, errCreate) })
	removeAllPods(ctx, t, c)
	promise(t, "L15", "who joined is told of its end", onStock("its end is not told"), func(t require.TestingT) {
		record := p.Calls().Connections()[1]
		assert.Equal(t, undone[1:], record.Of(pod.id).Events())
		reading := history.Read(record, nil)
		assert.Empty(t, reading.Faults())
		assert.Empty(t, reading.Alive())
	})
	promise(t, "L15", "nothing is left of it once it is removed", keptOnStock, func(t require.TestingT) { requireNothingLeft(t, n) })
	promise(t, "L15", "it can be created again", keptOnStock, func(t require.TestingT) { requirePodRunsAgain(t, n, pod.config) })
}
