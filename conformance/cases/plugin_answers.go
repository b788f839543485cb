// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

var _ = Container.has("L14_PluginsReceiveOnlySubscribedEvents", Needs{}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "few")
	p.Subscribe(plugin.RunPodSandbox, plugin.StopContainer)
	Connect(t, n, p)
	l := NewLife(t, n, "watched")
	l.End(t)
	require.Equal(t, []plugin.Event{plugin.RunPodSandbox, plugin.StopContainer}, p.Calls().Of(l.Pod).Events())
})

var _ = Pod.has("L16_PluginThatDoesNotAnswerInTimeHasFailed", Within(time.Second), func(t T) {
	n := t.Runtime()
	timeout, _ := n.Timeouts()
	slow, next := NewPlugin(t, "10", "slow"), NewPlugin(t, "20", "next")
	Connect(t, n, slow, next)
	gate := NewGate(t) // ignores that the request is canceled, so as not to answer
	slow.On(plugin.RunPodSandbox, gate.Hold)

	l := NewLife(t, n, "late") // without a failure policy: the creation goes on without the plugin

	RequireClosed(t, slow.Closed(), "the end of the plugin's connection")
	gate.Release()
	RequireSoon(t, "the plugin's answer", func(context.Context) error { return HasAnswered(slow, plugin.RunPodSandbox) })
	l.End(t)
	require.Equal(t, Whole, next.Calls().Of(l.Pod).Events())
	run := slow.Calls().Of(l.Pod)
	require.Equal(t, []plugin.Event{plugin.RunPodSandbox}, run.Events())
	require.Error(t, run[0].Abandoned)
	require.GreaterOrEqual(t, run[0].End.Sub(run[0].Start), timeout*9/10)
	RequireNothingLeft(t, n)
})

var _ = Container.has("L1_AdjustmentReachesTheContainerAndThePluginsAfter", Needs{}, func(t T) {
	n := t.Runtime()
	first, second := NewPlugin(t, "10", "adjusts"), NewPlugin(t, "20", "looks")
	Connect(t, n, first, second)
	first.On(plugin.CreateContainer, func(_ context.Context, call *plugin.Call) error {
		call.Adjust = &api.ContainerAdjustment{}
		call.Adjust.AddEnv("ADJUSTED", "yes")
		return nil
	})
	l := NewLife(t, n, "adjusted")
	created := second.Calls().Of(l.Pod).Only(plugin.PostCreateContainer)
	require.Len(t, created, 1)
	require.Contains(t, created[0].Container.GetEnv(), "ADJUSTED=yes")
	l.End(t)
})
