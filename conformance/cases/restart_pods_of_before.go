// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// wasBefore is a state of a pod before a restart.
type wasBefore struct {
	state    string
	before   func(T, Runtime, *plugin.Plugin, Life) // the runtime is killed
	down     func(T, *plugin.Plugin, Life)          // while it is down
	received []plugin.Event
}

// allEnds are the ends of a pod that is stopped and removed together with its container.
var allEnds = []plugin.Event{plugin.StopContainer, plugin.StopPodSandbox, plugin.RemoveContainer, plugin.RemovePodSandbox}

// Synchronize has running containers, and no exited ones (containerd/containerd#8426).
var _ = Restart.has("L15_EndsOfPodsFromBeforeARestartAreDelivered", Patient.AndRestarts(), func(t T) {
	endsOfPodsOfBefore(t, []wasBefore{
		{state: "Ready", received: allEnds},
		{state: "stopped half-way", before: func(t T, n Runtime, p *plugin.Plugin, l Life) {
			gate := NewGate(t)
			p.On(plugin.StopPodSandbox, gate.Hold)
			InBackground(func() error { return n.CRI().StopPod(WithinAMinute(t), l.Pod) })
			RequireClosed(t, gate.Entered(), "StopPodSandbox")
		}, received: []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}},
		{state: "stopped", before: func(t T, n Runtime, _ *plugin.Plugin, l Life) {
			require.NoError(t, n.CRI().StopPod(WithinAMinute(t), l.Pod))
		}, received: []plugin.Event{plugin.RemovePodSandbox}},
	})
})

var _ = Restart.has("L15_EndsOfPodsWhoseSandboxDiedAreDeliveredAfterARestart", Patient.AndRestarts().AndSandbox(), func(t T) {
	endsOfPodsOfBefore(t, []wasBefore{
		{state: "NotReady", before: func(t T, n Runtime, p *plugin.Plugin, l Life) {
			KillSandbox(t, p, l.Pod)
			RequirePodNotReady(WithinAMinute(t), t, n, l.Pod)
		}, received: allEnds},
		{state: "NotReady since it died while the runtime was down", down: func(t T, p *plugin.Plugin, l Life) {
			KillSandbox(t, p, l.Pod)
		}, received: allEnds},
	})
})

func endsOfPodsOfBefore(t T, states []wasBefore) {
	for _, was := range states {
		t.Run(was.state, func(t T) {
			n := t.Runtime()
			back, later := NewPlugin(t, "10", "back"), NewPlugin(t, "20", "later")
			Connect(t, n, back)
			l := NewLife(t, n, "survivor")
			if was.before != nil {
				was.before(t, n, back, l)
			}
			require.NoError(t, n.Kill(WithinAMinute(t)))
			back.On(plugin.StopPodSandbox, nil)
			if was.down != nil {
				was.down(t, back, l)
			}
			require.NoError(t, n.Boot(WithinAMinute(t)))
			if was.down != nil {
				RequirePodNotReady(WithinAMinute(t), t, n, l.Pod)
			}
			Connect(t, n, back, later)

			ctx, c := WithinAMinute(t), n.CRI()
			require.NoError(t, c.StopPod(ctx, l.Pod))
			require.NoError(t, c.StopPod(ctx, l.Pod)) // L11
			require.NoError(t, c.RemovePod(ctx, l.Pod))
			require.NoError(t, c.RemovePod(ctx, l.Pod))
			t.Promise("L15", "nothing is left of a pod that was "+was.state, SometimesOnStock("the process of its shim is left, before v2.4"), func(t require.TestingT) {
				RequireNothingLeftButSockets(t, n)
			})

			for name, p := range map[string]*plugin.Plugin{"a plugin that reconnects": back, "a plugin that connects later": later} {
				t.Promise("L15", name+" receives a pod that was "+was.state+" in Synchronize", KeptOnStock, func(t require.TestingT) {
					assert.Len(t, p.Calls().Latest().Only(plugin.Synchronize)[0].Pods, 1)
				})
				t.Promise("L15", name+" receives the end of that pod", OnStock("the end is not delivered"), Eventually(func(t require.TestingT) {
					received := p.Calls().Latest().Of(l.Pod)
					if p == back && len(was.received) < len(allEnds) {
						// It knew the container, and may receive the end of that.
						received = received.Only(plugin.StopPodSandbox, plugin.RemovePodSandbox)
					}
					assert.Equal(t, was.received, received.Events())
					reading := history.ReadLast(p.Calls().Connections(), map[string]time.Time{l.Pod: {}})
					assert.Empty(t, reading.Faults())
					assert.Empty(t, reading.Alive())
				}))
			}
		})
	}
}
