// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Containerd is killed while a plugin handles CreateContainer, when the container has no record
// yet. The plugin receives the container's end, whether the pod still exists or not; plugins that
// were not asked do not.
func TestL18_ContainerThatWasCutInItsCreationHasEnded(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{false, true} {
		name := "the plugins are back before the pod ends"
		if !before {
			name = "the plugins are back after the pod has ended"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := StartNode(t, WithNeeds(Patient))
			asked, later := plugin.New("10", "asked"), plugin.New("20", "later")
			Connect(t, n, asked, later)
			container := NewInCreation(t, n, asked, "pod")
			asked.On(plugin.CreateContainer, nil)
			RequireKilledAndBack(t, n, container.Created)
			container.Gate.Release()
			if before {
				Connect(t, n, asked, later)
			}
			RemoveAllPods(WithinAMinute(t), t, n.CRI())
			if !before {
				Connect(t, n, asked, later)
			}

			Promise(t, "L18", "the plugin that was asked receives the container's end, once and before the pod's", OnStock("no plugin receives it"), Eventually(func(t require.TestingT) {
				since := asked.Calls().Connections()[1]
				require.Equal(t, []plugin.Event{plugin.StopContainer, plugin.RemoveContainer, plugin.StopPodSandbox, plugin.RemovePodSandbox},
					since.Of(container.Pod).Only(EveryEnd...).Events())
				assert.Equal(t, container.ID, since.Only(plugin.RemoveContainer)[0].Container.GetId())
				began := asked.Calls().Connections()[0].Of(container.Pod).Only(plugin.RunPodSandbox)[0].Pod
				for _, end := range since.Of(container.Pod).Only(EveryEnd...) {
					assert.Equal(t, began.GetName(), end.Pod.GetName(), "%s has its pod", end.Event)
					assert.Equal(t, began.GetUid(), end.Pod.GetUid(), "%s", end.Event)
					if end.Event != plugin.RemovePodSandbox { // sent when the namespace is gone
						assert.Equal(t, NetworkNamespace(began), NetworkNamespace(end.Pod), "%s", end.Event)
					}
				}
			}))
			Promise(t, "L3", "a plugin that was not asked receives only the end of the pod", OnStock("it does not receive the end of the pod"), Eventually(func(t require.TestingT) {
				assert.Equal(t, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}, later.Calls().Connections()[1].Of(container.Pod).Only(EveryEnd...).Events())
			}))
		})
	}
}

// Containerd is killed while a pod waits for a required plugin. A plugin that received the pod in
// Synchronize receives its end; one that was connected before does not know the pod.
func TestL18_PodThatWasCutInItsWaitHasEnded(t *testing.T) {
	t.Parallel()
	n, ctx := StartNode(t, WithConfig(PluginSetting("must", "required_for = ['pods']\nwait = '50s'"))), WithinAMinute(t)
	connected, joins := plugin.New("10", "connected"), plugin.New("30", "joins")
	Connect(t, n, connected)
	running := InBackground(func() error {
		_, err := n.CRI().RunPod(ctx, n.CRI().Pod("waits"))
		return err
	})
	if RunsOnStock { // stock does not require the other plugin
		require.NoError(t, <-running)
	} else {
		RequireSoon(t, "the pod that waits", func(context.Context) error { return WaitFor(t, n, "must", 1) })
	}
	Connect(t, n, joins)
	Promise(t, "L2", "a plugin that joins receives a pod that waits", KeptOnStock, Eventually(func(t require.TestingT) {
		assert.Len(t, PodsOf(joins, plugin.Synchronize), 1)
	}))
	pod := PodsOf(joins, plugin.Synchronize)[0].GetId()
	RequireSoon(t, "the plugin to be recorded", func(ctx context.Context) error { return hasJoined(ctx, n, joins) })
	require.NoError(t, n.Kill(ctx))
	if !RunsOnStock {
		require.Error(t, <-running)
	}
	require.NoError(t, n.Boot(ctx))
	RemoveAllPods(ctx, t, n.CRI())
	Connect(t, n, connected, joins)
	Promise(t, "L18", "a plugin that received the waiting pod receives its end", OnStock(NeverHears), Eventually(func(t require.TestingT) {
		assert.Equal(t, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}, joins.Calls().Connections()[1].Of(pod).Events())
	}))
	if !RunsOnStock { // on stock the pod ran, and was delivered
		Promise(t, "L3", "a plugin that did not receive the pod receives no end", KeptOnStock, func(t require.TestingT) {
			assert.Empty(t, connected.Calls().Of(pod))
		})
	}
}

// hasJoined returns nil if the runtime has recorded that a plugin has joined. On stock a connected
// plugin has joined.
func hasJoined(ctx context.Context, n *node.Node, p *plugin.Plugin) error {
	if RunsOnStock {
		return nil
	}
	joins, err := n.Metrics(ctx, "containerd_nri_plugin_sync_seconds_count")
	if err == nil && joins[fmt.Sprintf("{plugin=%q}", p.Name())] == 0 {
		err = fmt.Errorf("%s has not joined: %v", p.Name(), joins)
	}
	return err
}
