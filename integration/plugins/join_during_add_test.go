// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A joining plugin receives a pod that is being created also before its hook.
func TestL2_JoiningPluginReceivesAPodInItsADD(t *testing.T) {
	t.Parallel()
	for end, test := range map[string]struct {
		end      func(*node.Hold) error
		received []plugin.Event
		stock    Breach
	}{
		"that succeeds": {(*node.Hold).Release, []plugin.Event{plugin.RunPodSandbox, plugin.StopPodSandbox, plugin.RemovePodSandbox}, KeptOnStock},
		"that fails":    {(*node.Hold).Fail, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}, OnStock("it does not receive its end")},
	} {
		t.Run(end, func(t *testing.T) {
			n := StartNode(t)
			joining := plugin.New("10", "joins")
			ctx, c := WithinAMinute(t), n.CRI()
			config := c.Pod("coming")
			add, ran := HoldCreation(ctx, t, n, node.Before("ptp", "ADD"), config)

			Connect(t, n, joining) // L13: the registration does not wait for the ADD

			require.True(t, IsOpen(ran))
			require.NoError(t, test.end(add))
			if err := <-ran; end == "that fails" {
				require.ErrorContains(t, err, "held and failed")
			} else {
				require.NoError(t, err)
				RemoveAllPods(ctx, t, c)
			}
			RequireNothingLeft(t, n)
			Promise(t, "L2", "a plugin that joins during an ADD "+end+" receives the pod in Synchronize", OnStock("it does not"), func(t require.TestingT) {
				assert.Equal(t, 1, TimesSynchronized(joining, "coming"), "times in Synchronize")
			})
			Promise(t, "L3", "it receives all later events of the pod", test.stock, Eventually(func(t require.TestingT) {
				assert.Equal(t, test.received, joining.Calls().Named("coming").Events())
				reading := history.Read(joining.Calls(), nil)
				assert.Empty(t, reading.Faults())
				assert.Empty(t, reading.Alive())
			}))
			RequirePodRunsAgain(t, n, config)
		})
	}
}
