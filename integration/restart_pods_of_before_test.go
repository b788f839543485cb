// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// Containers that have exited are not told of, those that run are
// (containerd/containerd#8426).
func TestL15_EndsOfPodsOfBeforeARestartAreTold(t *testing.T) {
	t.Parallel()
	ends := []plugin.Event{plugin.StopContainer, plugin.StopPodSandbox, plugin.RemoveContainer, plugin.RemovePodSandbox}
	for _, was := range []struct {
		state  string
		before func(*testing.T, *node.Node, *plugin.Plugin, life) // the runtime is killed
		down   func(*testing.T, *plugin.Plugin, life)             // while it is down
		told   []plugin.Event
	}{
		{state: "Ready", told: ends},
		{state: "NotReady", before: func(t *testing.T, n *node.Node, p *plugin.Plugin, l life) {
			killSandbox(t, p, l.pod)
			requirePodNotReady(withinAMinute(t), t, n, l.pod)
		}, told: ends},
		{state: "NotReady since the runtime was down", down: func(t *testing.T, p *plugin.Plugin, l life) {
			killSandbox(t, p, l.pod)
		}, told: ends},
		{state: "stopped half-way", before: func(t *testing.T, n *node.Node, p *plugin.Plugin, l life) {
			gate := newGate(t)
			p.On(plugin.StopPodSandbox, gate.Hold)
			inBackground(func() error { return n.CRI().StopPod(withinAMinute(t), l.pod) })
			requireClosed(t, gate.Entered(), "StopPodSandbox")
		}, told: []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}},
		{state: "stopped", before: func(t *testing.T, n *node.Node, _ *plugin.Plugin, l life) {
			require.NoError(t, n.CRI().StopPod(withinAMinute(t), l.pod))
		}, told: []plugin.Event{plugin.RemovePodSandbox}},
	} {
		t.Run(was.state, func(t *testing.T) {
			n := startNode(t, patient.set)
			back, later := plugin.New("10", "back"), plugin.New("20", "later")
			connect(t, n, back)
			l := newLife(t, n, "survivor")
			if was.before != nil {
				was.before(t, n, back, l)
			}
			require.NoError(t, n.Kill(withinAMinute(t)))
			back.On(plugin.StopPodSandbox, nil)
			if was.down != nil {
				was.down(t, back, l)
			}
			require.NoError(t, n.Boot(withinAMinute(t)))
			if was.down != nil {
				requirePodNotReady(withinAMinute(t), t, n, l.pod)
			}
			connect(t, n, back, later)

			ctx, c := withinAMinute(t), n.CRI()
			require.NoError(t, c.StopPod(ctx, l.pod))
			require.NoError(t, c.StopPod(ctx, l.pod)) // L11
			require.NoError(t, c.RemovePod(ctx, l.pod))
			require.NoError(t, c.RemovePod(ctx, l.pod))
			requireNothingLeftButSockets(t, n)

			for _, p := range []*plugin.Plugin{back, later} {
				records := p.Calls().Connections()
				record := records[len(records)-1]
				promise(t, "L15", p.Name()+" is told of a pod that was "+was.state+" in Synchronize", keptOnStock, func(t require.TestingT) {
					assert.Len(t, record.Only(plugin.Synchronize)[0].Pods, 1)
				})
				promise(t, "L15", p.Name()+" is told of its end", onStock("it ends untold"), func(t require.TestingT) {
					assert.Equal(t, was.told, record.Of(l.pod).Events())
					reading := history.Read(record, map[string]time.Time{l.pod: {}})
					assert.Empty(t, reading.Faults())
					assert.Empty(t, reading.Alive())
				})
			}
		})
	}
}
