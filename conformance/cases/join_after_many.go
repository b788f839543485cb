// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Before a plugin joins, pods and containers were created and removed, and plugins rejected some.
var _ = Joining.has("L3_JoiningPluginReceivesNothingThatIsGone", Needs{}, func(t T) {
	const each = 8
	n, ctx := t.Runtime(), WithinAMinute(t)
	c, rejects := n.CRI(), NewPlugin(t, "10", "rejects")
	for _, event := range []plugin.Event{plugin.RunPodSandbox, plugin.CreateContainer} {
		rejects.On(event, func(_ context.Context, call *plugin.Call) error {
			if strings.HasPrefix(call.Pod.GetName(), "rejected") || strings.HasPrefix(call.Container.GetName(), "rejected") {
				return errors.New("it is not wanted")
			}
			return nil
		})
	}
	Connect(t, n, rejects)
	stays := NewLife(t, n, "stays")
	config := c.Pod("has-several")
	several, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	for i := range each {
		NewLife(t, n, fmt.Sprintf("gone-%d", i)).End(t)
		_, err := c.RunPod(ctx, c.Pod(fmt.Sprintf("rejected-%d", i)))
		require.Error(t, err)

		gone, err := c.Create(ctx, several, config, c.Container(fmt.Sprintf("gone-%d", i)))
		require.NoError(t, err)
		require.NoError(t, c.Start(ctx, gone))
		require.NoError(t, n.Settled(ctx, gone))
		require.NoError(t, c.Stop(ctx, gone, 10*time.Second))
		require.NoError(t, c.Remove(ctx, gone))
		_, err = c.Create(ctx, several, config, c.Container(fmt.Sprintf("rejected-%d", i)))
		require.Error(t, err)
	}
	joins := NewPlugin(t, "20", "joins")
	Connect(t, n, joins)
	t.Promise("L3", "it receives the pods and containers that exist, and none that were removed or rejected", KeptOnStock, func(t require.TestingT) {
		received := joins.Calls().Only(plugin.Synchronize)
		require.Len(t, received, 1)
		var pods, containers []string
		for _, pod := range received[0].Pods {
			pods = append(pods, pod.GetId())
		}
		for _, container := range received[0].Containers {
			containers = append(containers, container.GetId())
		}
		assert.ElementsMatch(t, []string{stays.Pod, several}, pods)
		assert.ElementsMatch(t, []string{stays.Container}, containers)
	})
	stays.End(t)
	require.NoError(t, c.RemovePod(ctx, several))
	t.Promise("L7", "nothing is left of rejected pods and containers", RollBackRaces, func(t require.TestingT) { RequireNothingLeft(t, n) })
})
