// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A pod is told of from when it is created, not from when its hook comes.
func TestL2_PodInItsADDIsToldToWhoJoins(t *testing.T) {
	t.Parallel()
	for end, test := range map[string]struct {
		end   func(*node.Hold) error
		told  []plugin.Event
		stock breach
	}{
		"that succeeds": {(*node.Hold).Release, []plugin.Event{plugin.RunPodSandbox, plugin.StopPodSandbox, plugin.RemovePodSandbox}, keptOnStock},
		"that fails":    {(*node.Hold).Fail, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}, onStock("it is not told of its end")},
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
			promise(t, "L2", "who joins during an ADD "+end+" is told of the pod in Synchronize", onStock("it is not"), func(t require.TestingT) {
				assert.Equal(t, 1, timesSynchronized(joining, "coming"), "times in Synchronize")
			})
			promise(t, "L3", "and of all that comes of it", test.stock, eventually(func(t require.TestingT) {
				assert.Equal(t, test.told, joining.Calls().Named("coming").Events())
				reading := history.Read(joining.Calls(), nil)
				assert.Empty(t, reading.Faults())
				assert.Empty(t, reading.Alive())
			}))
			requirePodRunsAgain(t, n, config)
		})
	}
}
