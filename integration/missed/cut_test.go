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

// Containerd is killed while a plugin is at a container of which there is no record yet. That
// plugin is told its end, with the pod there or not, and those that were not asked are not.
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

			Promise(t, "L18", "who was asked of the container is told its end, once and before that of its pod", OnStock("nobody is"), Eventually(func(t require.TestingT) {
				since := asked.Calls().Connections()[1]
				require.Equal(t, []plugin.Event{plugin.StopContainer, plugin.RemoveContainer, plugin.StopPodSandbox, plugin.RemovePodSandbox},
					since.Of(container.Pod).Only(EveryEnd...).Events())
				assert.Equal(t, container.ID, since.Only(plugin.RemoveContainer)[0].Container.GetId())
				began := asked.Calls().Connections()[0].Of(container.Pod).Only(plugin.RunPodSandbox)[0].Pod
				for _, end := range since.Of(container.Pod).Only(EveryEnd...) {
					assert.Equal(t, began.GetName(), end.Pod.GetName(), "%s: the pod is there", end.Event)
					assert.Equal(t, began.GetUid(), end.Pod.GetUid(), "%s", end.Event)
					if end.Event != plugin.RemovePodSandbox { // which comes when the namespace is gone
						assert.Equal(t, NetworkNamespace(began), NetworkNamespace(end.Pod), "%s", end.Event)
					}
				}
			}))
			Promise(t, "L3", "who was not is told of the pod alone", OnStock("it is not told of the end of the pod"), Eventually(func(t require.TestingT) {
				assert.Equal(t, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}, later.Calls().Connections()[1].Of(container.Pod).Only(EveryEnd...).Events())
			}))
		})
	}
}

// Containerd is killed while a pod waits for a required plugin. A plugin that was told of the
// pod in Synchronize is told its end; one that was there before knows nothing of it.
func TestL18_PodThatWasCutInItsWaitHasEnded(t *testing.T) {
	t.Parallel()
	n, ctx := StartNode(t, WithConfig(PluginSetting("must", "required_for = ['pods']\nwait = '50s'"))), WithinAMinute(t)
	there, joins := plugin.New("10", "there"), plugin.New("30", "joins")
	Connect(t, n, there)
	running := InBackground(func() error {
		_, err := n.CRI().RunPod(ctx, n.CRI().Pod("waits"))
		return err
	})
	if RunsOnStock { // where the other is not required
		require.NoError(t, <-running)
	} else {
		RequireSoon(t, "the pod that waits", func(context.Context) error { return WaitFor(t, n, "must", 1) })
	}
	Connect(t, n, joins)
	Promise(t, "L2", "who joins is told of a pod that waits", KeptOnStock, Eventually(func(t require.TestingT) {
		assert.Len(t, PodsOf(joins, plugin.Synchronize), 1)
	}))
	pod := PodsOf(joins, plugin.Synchronize)[0].GetId()
	RequireSoon(t, "the plugin to take part", func(ctx context.Context) error { return hasJoined(ctx, n, joins) })
	require.NoError(t, n.Kill(ctx))
	if !RunsOnStock {
		require.Error(t, <-running)
	}
	require.NoError(t, n.Boot(ctx))
	RemoveAllPods(ctx, t, n.CRI())
	Connect(t, n, there, joins)
	Promise(t, "L18", "who was told of a pod that waits is told its end", OnStock(NeverHears), Eventually(func(t require.TestingT) {
		assert.Equal(t, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}, joins.Calls().Connections()[1].Of(pod).Events())
	}))
	if !RunsOnStock { // where it ran, and so was told
		Promise(t, "L3", "who was not told of it hears nothing", KeptOnStock, func(t require.TestingT) {
			assert.Empty(t, there.Calls().Of(pod))
		})
	}
}

// hasJoined says whether the runtime has written down that a plugin takes part. On stock it
// does once it is connected.
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
