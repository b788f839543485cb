// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// requirePodNotReady waits until CRI says that a pod's sandbox has died.
func requirePodNotReady(ctx context.Context, t *testing.T, n *node.Node, pod string) {
	t.Helper()
	requireSoon(t, "pod "+pod+" to be not ready", func(context.Context) error {
		r, err := n.CRI().Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
		if err == nil && r.GetStatus().GetState() != runtime.PodSandboxState_SANDBOX_NOTREADY {
			err = fmt.Errorf("it is %s", r.GetStatus().GetState())
		}
		return err
	})
}

// killSandbox kills the process of a pod's sandbox.
func killSandbox(t *testing.T, p *plugin.Plugin, pod string) {
	t.Helper()
	run := p.Calls().Of(pod).Only(plugin.RunPodSandbox)
	require.Len(t, run, 1)
	require.NoError(t, unix.Kill(int(run[0].Pod.GetPid()), unix.SIGKILL))
}

// requireNothingLeftButSockets is requireNothingLeft, except for sockets of shims. Containerd
// deletes the bundle of a sandbox that died, and with it the file from which
// the shim knows the sockets to remove when it ends.
func requireNothingLeftButSockets(t require.TestingT, n *node.Node) {
	requireSoon(t, "a clean node", func(ctx context.Context) error {
		left, err := n.Leftovers(ctx)
		left = slices.DeleteFunc(left, func(l node.Leftover) bool { return l.Kind == "shim socket" })
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left:%s", lines(left))
		}
		return err
	})
}

// Containers that have exited are not told of, those that run are
// (containerd/containerd#8426).
func TestL15_PodsOfBeforeEndAfterARestart(t *testing.T) {
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
			n := startNode(t, func(o *node.Options) { o.RequestTimeout = 30 * time.Second })
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

			stockBreaks(t, "L15", "a pod that was "+was.state+" is found by a restarted runtime, and ends untold", func(t require.TestingT) {
				for _, p := range []*plugin.Plugin{back, later} {
					records := p.Calls().Connections()
					record := records[len(records)-1]
					assert.Equal(t, 1, len(record.Only(plugin.Synchronize)[0].Pods), "pods in Synchronize of %s", p.Name())
					assert.Equal(t, was.told, record.Of(l.pod).Events(), p.Name())
					reading := history.Read(record, map[string]time.Time{l.pod: {}})
					assert.Empty(t, reading.Faults(), p.Name())
					assert.Empty(t, reading.Alive(), p.Name())
				}
			})
		})
	}
}
