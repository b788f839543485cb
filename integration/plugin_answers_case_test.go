// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

func TestL14_PluginsGetOnlyWhatTheySubscribedTo(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	p := plugin.New("10", "few")
	p.Subscribe(plugin.RunPodSandbox, plugin.StopContainer)
	connect(t, n, p)
	l := newLife(t, n, "watched")
	l.end(t)
	require.Equal(t, []plugin.Event{plugin.RunPodSandbox, plugin.StopContainer}, p.Calls().Of(l.pod).Events())
}

func TestL16_PluginThatDoesNotAnswerInTimeHasFailed(t *testing.T) {
	t.Parallel()
	n := startTarget(t, timeouts{request: time.Second})
	slow, next := plugin.New("10", "slow"), plugin.New("20", "next")
	connect(t, n, slow, next)
	gate := newGate(t) // it does not see that nobody waits any more, which would be an answer
	slow.On(plugin.RunPodSandbox, gate.Hold)

	l := newLife(t, n, "late") // the policy of a plugin that has none: go on without it

	requireClosed(t, slow.Closed(), "the end of the plugin's connection")
	gate.Release()
	requireSoon(t, "the plugin's answer", func(context.Context) error { return hasAnswered(slow, plugin.RunPodSandbox) })
	l.end(t)
	require.Equal(t, whole, next.Calls().Of(l.pod).Events())
	run := slow.Calls().Of(l.pod)
	require.Equal(t, []plugin.Event{plugin.RunPodSandbox}, run.Events())
	require.Error(t, run[0].Abandoned)
	require.GreaterOrEqual(t, run[0].End.Sub(run[0].Start), 900*time.Millisecond)
	requireNothingLeft(t, n)
}

func TestL1_AdjustmentReachesTheContainerAndThePluginsAfter(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	first, second := plugin.New("10", "adjusts"), plugin.New("20", "looks")
	connect(t, n, first, second)
	first.On(plugin.CreateContainer, func(_ context.Context, call *plugin.Call) error {
		call.Adjust = &api.ContainerAdjustment{}
		call.Adjust.AddEnv("ADJUSTED", "yes")
		return nil
	})
	l := newLife(t, n, "adjusted")
	created := second.Calls().Of(l.pod).Only(plugin.PostCreateContainer)
	require.Len(t, created, 1)
	require.Contains(t, created[0].Container.GetEnv(), "ADJUSTED=yes")
	l.end(t)
}
