// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The runtime is killed while plugins handle the removal of a pod. It finds the pod again:
// plugins would never receive the removal of a pod that it had forgotten before.
var _ = Restart.has("L15_RemovalInterruptedByAKillIsDeliveredAgain", Patient.AndRestarts(), func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "holds")
	Connect(t, n, p)
	l := NewLife(t, n, "removed")
	gate := NewGate(t)
	p.On(plugin.RemovePodSandbox, gate.Hold)
	removed := InBackground(func() error { return n.CRI().RemovePod(WithinAMinute(t), l.Pod) })
	RequireClosed(t, gate.Entered(), "RemovePodSandbox")
	p.On(plugin.RemovePodSandbox, nil)
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.Error(t, <-removed)
	require.NoError(t, n.Boot(WithinAMinute(t)))
	gate.Release()
	Connect(t, n, p)

	t.Promise("L15", "the pod exists after the restart, and a plugin that joins receives it", KeptOnStock, func(t require.TestingT) {
		pods := p.Calls().Connections()[1].Only(plugin.Synchronize)[0].Pods
		require.Len(t, pods, 1)
		require.Equal(t, l.Pod, pods[0].GetId())
	})
	require.NoError(t, n.CRI().RemovePod(WithinAMinute(t), l.Pod))
	t.Promise("L15", "the plugin receives the removal again", OnStock("the removal is not delivered"), Eventually(func(t require.TestingT) {
		records := p.Calls().Connections()
		reading := history.Read(records[1], nil, records[0])
		assert.Empty(t, reading.Faults())
		assert.Empty(t, reading.Alive())
	}))
	t.Promise("L7", "nothing is left of the pod", KeptOnStock, func(t require.TestingT) { RequireNothingLeftButSockets(t, n) })
})
