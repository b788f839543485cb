// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A plugin rejects a container that another one approved. The end that the other one receives
// has the same container.
var _ = Resources.has("R2_EndOfARejectedContainerHasItsResources", Needs{Announcements: true}, func(t T) {
	for name, asks := range map[string]string{
		"main":  "",     // as announced
		"side":  "500m", // differs from the announcement
		"debug": "500m", // an ephemeral container brings its own
	} {
		t.Run(name, func(t T) {
			n := t.Runtime()
			agrees, rejects := NewPlugin(t, "10", "agrees"), NewPlugin(t, "20", "rejects")
			rejects.On(plugin.CreateContainer, plugin.Fail("no room"))
			Connect(t, n, agrees, rejects)
			ctx, c := WithinAMinute(t), n.CRI()
			pod := Announced(t, n, "field", ThreeContainers())
			id, err := c.RunPod(ctx, pod)
			require.NoError(t, err)
			config := c.Container(name)
			if asks != "" {
				require.NoError(t, podresources.SetContainer(config, Requests(asks, "128Mi")))
			}
			_, err = c.Create(ctx, id, pod, config)
			require.ErrorContains(t, err, "no room")
			t.Promise("R2", "the end of a rejected container has the resources that it was rejected with", OnStock(DeliversNothing), func(t require.TestingT) {
				RequireSoon(t, "RemoveContainer", func(context.Context) error { return HasAnswered(agrees, plugin.RemoveContainer) })
				assert.Equal(t, []string{"CreateContainer 500m", "StopContainer 500m", "RemoveContainer 500m"},
					CPUsDelivered(agrees, plugin.CreateContainer, plugin.StopContainer, plugin.RemoveContainer))
			})
			t.Promise("R2", "the pod of that end has the announced resources", OnStock(DeliversNothing), func(t require.TestingT) {
				RequireSoon(t, "RemoveContainer", func(context.Context) error { return HasAnswered(agrees, plugin.RemoveContainer) })
				require.Equal(t, []string{AllThree}, SumsDelivered(agrees, plugin.RunPodSandbox))
				assert.Equal(t, []string{AllThree}, SumsDelivered(agrees, plugin.RemoveContainer), "it was never created")
			})
		})
	}
})
