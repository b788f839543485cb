// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// readyState is the state of a ready pod in its field 1000, as it is on the wire.
var readyState = []byte{0xc0, 0x3e, 2}

// A pod whose hook was cut is nobody's ready pod: plugins that join afterwards
// hear of it, and of its end, but not that it came to be.
func TestL15_PodCutInItsHookIsNotReady(t *testing.T) {
	n := startNode(t, slowRequests)
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
	stockBreaks(t, "L15", "a pod whose hook was cut by a restart is ready afterwards", func(t require.TestingT) {
		pods := calls.Only(plugin.Synchronize)[0].Pods
		require.Len(t, pods, 1)
		assert.Equal(t, pod.id, pods[0].GetId())
		assert.NotContains(t, string(pods[0].ProtoReflect().GetUnknown()), string(readyState))
		requireNoPodReady(ctx, t, c)
		_, err := c.Create(ctx, pod.id, pod.config, c.Container("none"))
		assert.Error(t, err)
		r, err := c.Runtime.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{})
		require.NoError(t, err)
		require.Len(t, r.GetItems(), 1)
		removeAllPods(ctx, t, c)
		record := p.Calls().Connections()[1]
		assert.Equal(t, undone[1:], record.Of(pod.id).Events())
		reading := history.Read(record, nil)
		assert.Empty(t, reading.Faults())
		assert.Empty(t, reading.Alive())
		requireNothingLeft(t, n)
		requirePodRunsAgain(t, n, pod.config)
	})
}
