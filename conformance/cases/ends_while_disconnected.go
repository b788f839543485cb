// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

var _ = Ends.has("L18_EndsWhileAPluginIsDisconnectedAreDeliveredOnReturn", Needs{}, func(t T) {
	endsWhileDisconnected(t, KeptOnStock, func(Runtime) {})
})

var _ = Ends.has("L18_EndsWhileAPluginIsDisconnectedAreDeliveredAfterARestart", Needs{Restarts: true}, func(t T) {
	endsWhileDisconnected(t, OnStock("ends of pods from before a restart are not delivered"), func(n Runtime) {
		require.NoError(t, n.Kill(WithinAMinute(t)))
		require.NoError(t, n.Boot(WithinAMinute(t)))
	})
})

// endsWhileDisconnected disconnects a plugin, ends pods, and reconnects the plugin under its
// name. The plugin knew three pods: one is then stopped, one is removed, and one stays until
// it is back. stays is how stock breaks the promise for the last.
func endsWhileDisconnected(t T, stays Breach, meanwhile func(Runtime)) {
	n, ctx := t.Runtime(), WithinAMinute(t)
	p, other := NewPlugin(t, "10", "returns"), NewPlugin(t, "20", "never-connected")
	Connect(t, n, p)
	stopped, removed, lasts := NewLife(t, n, "stopped"), NewLife(t, n, "removed"), NewLife(t, n, "lasts")
	p.Crash()
	require.NoError(t, n.CRI().StopPod(ctx, stopped.Pod)) // a runtime that has not noticed the disconnect does so now
	meanwhile(n)
	unseen := NewLife(t, n, "unseen")
	unseen.End(t)
	removed.End(t)
	Connect(t, n, p, other)

	back := func(l Life) []plugin.Event { return p.Calls().Connections()[1].Of(l.Pod).Events() }
	stop := []plugin.Event{plugin.StopContainer, plugin.StopPodSandbox}
	t.Promise("L18", "a plugin that reconnects receives its missed events, in order", OnStock(NeverHears), func(t require.TestingT) {
		for of, last := range map[Life]plugin.Event{removed: plugin.RemovePodSandbox, stopped: plugin.StopPodSandbox} {
			RequireSoon(t, "the ends", func(context.Context) error { return HasAnsweredOf(p, of.Pod, last) })
		}
		assert.Equal(t, EveryEnd, back(removed))
		assert.Equal(t, stop, back(stopped))
	})
	require.NoError(t, n.CRI().RemovePod(ctx, stopped.Pod))
	lasts.End(t)
	t.Promise("L18", "it receives a later removal, and not the stop again", OnStock(NeverHears), func(t require.TestingT) {
		assert.Equal(t, append(stop, plugin.RemoveContainer, plugin.RemovePodSandbox), back(stopped))
	})
	t.Promise("L15", "it receives the end of the pod that lasted", stays, func(t require.TestingT) {
		assert.Equal(t, EveryEnd, back(lasts))
	})
	t.Promise("L3", "it receives nothing about pods that it did not know, and no other plugin receives its missed events", KeptOnStock, func(t require.TestingT) {
		assert.Empty(t, p.Calls().Of(unseen.Pod))
		assert.Empty(t, other.Calls().Of(removed.Pod))
	})
	RequireNothingLeft(t, n)
}

// A missed event has what a plugin needs to free its resources of the pod.
var _ = Ends.has("L18_MissedEndDescribesItsPod", Needs{}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "returns")
	Connect(t, n, p)
	config := n.CRI().Pod("pod")
	config.Annotations = map[string]string{"note": "that a plugin may need"}
	l := NewLifeOf(t, n, config)
	p.Crash()
	l.End(t)
	Connect(t, n, p)
	t.Promise("L18", "a missed event has names, uid, namespaces, cgroups, labels and annotations", OnStock(NeverHears), func(t require.TestingT) {
		RequireSoon(t, "the ends", func(context.Context) error { return HasAnsweredOf(p, l.Pod, plugin.RemovePodSandbox) })
		began := p.Calls().Connections()[0].Of(l.Pod).Only(plugin.CreateContainer)[0]
		ends := p.Calls().Connections()[1].Of(l.Pod)
		assert.Equal(t, EveryEnd, ends.Events())
		for _, end := range ends {
			requireDescribesPod(t, began, end)
		}
	})
	RequireNothingLeft(t, n)
})

// requireDescribesPod compares an end with the first event that the plugin received.
func requireDescribesPod(t require.TestingT, began, end plugin.Call) {
	assert.Equal(t, began.Pod.GetName(), end.Pod.GetName())
	assert.Equal(t, began.Pod.GetUid(), end.Pod.GetUid())
	assert.Equal(t, began.Pod.GetNamespace(), end.Pod.GetNamespace())
	assert.Equal(t, began.Pod.GetLabels(), end.Pod.GetLabels())
	assert.Equal(t, began.Pod.GetAnnotations()["note"], end.Pod.GetAnnotations()["note"])
	assert.Equal(t, began.Pod.GetLinux().GetCgroupParent(), end.Pod.GetLinux().GetCgroupParent())
	require.NotEmpty(t, NetworkNamespace(began.Pod))
	if end.Event != plugin.RemovePodSandbox { // sent when the namespace is gone
		assert.Equal(t, NetworkNamespace(began.Pod), NetworkNamespace(end.Pod), end.Event)
	}
	if end.Container != nil {
		assert.Equal(t, began.Container.GetName(), end.Container.GetName())
		assert.Equal(t, began.Container.GetLabels(), end.Container.GetLabels())
		assert.Equal(t, began.Container.GetLinux().GetCgroupsPath(), end.Container.GetLinux().GetCgroupsPath())
	}
}

// A plugin crashes each time that it receives a certain end. It receives its other missed
// events nevertheless.
var _ = Ends.has("L18_EndThatKeepsCrashingItsPluginIsDropped", Needs{}, func(t T) {
	const returns = 8
	n := t.Runtime()
	p := NewPlugin(t, "10", "breaks")
	p.On(plugin.StopPodSandbox, func(ctx context.Context, call *plugin.Call) error {
		if call.Pod.GetName() == "breaks-it" {
			return plugin.Crash(ctx, call)
		}
		return nil
	})
	Connect(t, n, p)
	bad, good := NewLife(t, n, "breaks-it"), NewLife(t, n, "good")
	p.Crash()
	bad.End(t)
	good.End(t)
	receivedGood := func(context.Context) error { return HasAnsweredOf(p, good.Pod, plugin.RemovePodSandbox) }
	for range returns {
		if p.Connect(WithinAMinute(t), n.NRISocket()) != nil {
			continue // it crashed at once
		}
		// It crashes again, or receives the rest.
		err := wait.Until(WithinMoments(t), "more missed events", func(ctx context.Context) error {
			if err := receivedGood(ctx); err != nil && IsOpen(p.Closed()) {
				return err
			}
			return nil
		})
		if err != nil || IsOpen(p.Closed()) {
			break
		}
	}
	t.Promise("L18", "after some reconnects it receives the other missed events, and stays connected", OnStock(NeverHears), func(t require.TestingT) {
		require.NoError(t, receivedGood(context.Background()))
		assert.True(t, IsOpen(p.Closed()))
		assert.Len(t, p.Calls().Of(bad.Pod).Only(plugin.StopPodSandbox), 3)
	})
	other := NewLife(t, n, "other")
	other.End(t)
	t.Promise("L18", "it is asked about other pods, and receives their ends", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, Whole, p.Calls().Of(other.Pod).Events())
	})
	RequireNothingLeft(t, n)
})
