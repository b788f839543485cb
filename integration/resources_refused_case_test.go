// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/hookline-nri/hookline/podresources"
)

// A plugin refuses a container that another agreed to. The end that is told of it
// is that of the same container.
func TestR2_EndOfARefusedContainerTellsItsResources(t *testing.T) {
	t.Parallel()
	for name, asks := range map[string]string{
		"main":  "",     // what was announced of it
		"side":  "500m", // something else than was announced
		"debug": "500m", // an ephemeral container says so itself
	} {
		t.Run(name, func(t *testing.T) {
			n := startTarget(t)
			agrees, refuses := plugin.New("10", "agrees"), plugin.New("20", "refuses")
			refuses.On(plugin.CreateContainer, plugin.Fail("no room"))
			connect(t, n, agrees, refuses)
			ctx, c := withinAMinute(t), n.CRI()
			pod := announced(t, n, "field", threeContainers())
			id, err := c.RunPod(ctx, pod)
			require.NoError(t, err)
			config := c.Container(name)
			if asks != "" {
				require.NoError(t, podresources.SetContainer(config, requests(asks, "128Mi")))
			}
			_, err = c.Create(ctx, id, pod, config)
			require.ErrorContains(t, err, "no room")
			promise(t, "R2", "the end of a refused container tells the resources that it was refused with", onStock(toldNothing), func(t require.TestingT) {
				requireSoon(t, "RemoveContainer", func(context.Context) error { return hasAnswered(agrees, plugin.RemoveContainer) })
				assert.Equal(t, []string{"CreateContainer 500m", "StopContainer 500m", "RemoveContainer 500m"},
					cpusTold(agrees, plugin.CreateContainer, plugin.StopContainer, plugin.RemoveContainer))
			})
			promise(t, "R2", "its pod has what was announced", onStock(toldNothing), func(t require.TestingT) {
				requireSoon(t, "RemoveContainer", func(context.Context) error { return hasAnswered(agrees, plugin.RemoveContainer) })
				require.Equal(t, []string{allThree}, sumsTold(agrees, plugin.RunPodSandbox))
				assert.Equal(t, []string{allThree}, sumsTold(agrees, plugin.RemoveContainer), "it was never created")
			})
		})
	}
}
