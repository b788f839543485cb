// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// timesSynchronized counts a pod in all that a plugin was synchronized with.
func timesSynchronized(p *plugin.Plugin, pod string) (times int) {
	for _, call := range p.Calls().Only(plugin.Synchronize) {
		for _, known := range call.Pods {
			if known.GetId() == pod || known.GetName() == pod {
				times++
			}
		}
	}
	return times
}

// A pod is told of from when it is created, not from when its hook comes.
func TestL2_JoinDuringADD(t *testing.T) {
	for end, test := range map[string]struct {
		end  func(*node.Hold) error
		told []plugin.Event
	}{
		"that succeeds": {(*node.Hold).Release, []plugin.Event{plugin.RunPodSandbox, plugin.StopPodSandbox, plugin.RemovePodSandbox}},
		"that fails":    {(*node.Hold).Fail, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}},
	} {
		t.Run(end, func(t *testing.T) {
			n := startNode(t)
			joining := plugin.New("10", "joins")
			ctx, c := withinAMinute(t), n.CRI()
			config := c.Pod("coming")
			add, err := n.HoldADD("coming")
			require.NoError(t, err)
			var pod string
			ran := inBackground(func() (err error) { pod, err = c.RunPod(ctx, config); return err })
			require.NoError(t, add.Entered(ctx))

			connect(t, n, joining) // L13: it does not wait for the ADD

			require.True(t, isOpen(ran))
			require.NoError(t, test.end(add))
			if err := <-ran; end == "that fails" {
				require.ErrorContains(t, err, "held and failed")
			} else {
				require.NoError(t, err)
				require.NoError(t, c.StopPod(ctx, pod))
				require.NoError(t, c.RemovePod(ctx, pod))
			}
			requireNothingLeft(t, n)
			stockBreaks(t, "L2", "a plugin that registers during a CNI ADD "+end+" is not told of the pod in Synchronize", func(t require.TestingT) {
				assert.Equal(t, 1, timesSynchronized(joining, "coming"), "times in Synchronize")
				assert.Equal(t, test.told, joining.Calls().Named("coming").Events())
				reading := history.Read(joining.Calls(), nil)
				assert.Empty(t, reading.Faults())
				assert.Empty(t, reading.Alive())
			})
			requirePodRunsAgain(t, n, config)
		})
	}
}

// Who joins during the hook of another plugin is asked as well: the pod is not
// Ready before all have agreed.
func TestL2_JoinDuringAHook(t *testing.T) {
	n := startNode(t, func(o *node.Options) { o.RequestTimeout = 30 * time.Second })
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

	stockBreaks(t, "L2", "a plugin cannot register while another one's hook runs, and is not asked", func(t require.TestingT) {
		require.NoError(t, errJoined)
		assert.Equal(t, 1, timesSynchronized(joining, "coming"), "times in Synchronize")
		assert.Equal(t, []plugin.Event{plugin.RunPodSandbox}, told)
		reading := history.Read(joining.Calls(), nil)
		assert.Empty(t, reading.Faults())
		assert.Empty(t, reading.Alive())
	})
}

// containerd/containerd#13698
func TestL2_ContainerInCreationIsToldOnce(t *testing.T) {
	n := startNode(t, func(o *node.Options) { o.RequestTimeout = 30 * time.Second })
	slow, joining := plugin.New("10", "slow"), plugin.New("20", "joins")
	connect(t, n, slow)
	ctx, c := withinAMinute(t), n.CRI()
	config := c.Pod("filling")
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	gate := newGate(t)
	slow.On(plugin.CreateContainer, gate.Hold)
	var container string
	created := inBackground(func() (err error) {
		container, err = c.Create(ctx, pod, config, c.Container("main"))
		return err
	})
	requireClosed(t, gate.Entered(), "CreateContainer")

	errJoined := <-connectInBackground(withinMoments(t), t, n, joining)
	gate.Release()
	require.NoError(t, <-created)
	calls := joining.Calls()
	require.NoError(t, c.Remove(ctx, container))

	stockBreaks(t, "L2", "a plugin cannot register while another one is asked about a container", func(t require.TestingT) {
		require.NoError(t, errJoined)
		told := len(calls.Only(plugin.CreateContainer))
		for _, call := range calls.Only(plugin.Synchronize) {
			for _, known := range call.Containers {
				assert.Equal(t, container, known.GetId())
				told++
			}
		}
		assert.Equal(t, 1, told, "times told of the container")
		assert.Len(t, calls.Only(plugin.PostCreateContainer), 1)
		assert.Empty(t, history.Read(joining.Calls(), nil).Faults())
		assert.Len(t, joining.Calls().Only(plugin.StopContainer, plugin.RemoveContainer), 2)
	})
	require.NoError(t, c.RemovePod(ctx, pod))
	requireNothingLeft(t, n)
}
