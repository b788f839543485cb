// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/podstate"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Synchronize shows a pod that is being created as such, or leaves it out if that is set. Either
// way the joining plugin is asked about it.
func TestL2_PodBeingCreatedIsShownOrLeftOutAsSet(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		leaveOut bool
		listed   int
	}{
		"shown":    {false, 1},
		"left out": {true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := StartNode(t, func(o *node.Options) {
				o.RequestTimeout = 30 * time.Second
				if want.leaveOut {
					o.Config = "version = 3\n[plugins.'io.containerd.nri.v1.nri']\nsync_transient_sandboxes = false\n"
				}
			})
			slow, joining := plugin.New("10", "slow"), plugin.New("20", "joins")
			Connect(t, n, slow)
			pod := NewInHook(t, n, slow, "coming")
			errJoined := <-ConnectInBackground(WithinMoments(t), t, n, joining)
			pod.Gate.Release()
			require.NoError(t, <-pod.Ran)
			EndPod(WithinAMinute(t), t, n, pod.ID)

			Promise(t, "L2", "Synchronize has the pod, as being created, or leaves it out, as set", OnStock(CannotJoin), func(t require.TestingT) {
				require.NoError(t, errJoined)
				assert.Equal(t, want.listed, TimesSynchronized(joining, "coming"), "times in Synchronize")
				for _, call := range joining.Calls().Only(plugin.Synchronize) {
					for _, known := range call.Pods {
						assert.Equal(t, podstate.Creating, podstate.FromPod(known))
					}
				}
			})
			Promise(t, "L2", "the plugin is asked about the pod either way, and receives its end", OnStock(CannotJoin), func(t require.TestingT) {
				assert.Equal(t, Undone, joining.Calls().Named("coming").Events())
				assert.Empty(t, history.Read(joining.Calls(), nil).Faults())
			})
			Promise(t, "L2", "each event has the state of the pod", OnStock(CannotJoin), func(t require.TestingT) {
				assert.Equal(t, []podstate.State{podstate.Creating, podstate.Ready, podstate.Stopped}, statesDelivered(joining, "coming"))
			})
		})
	}
}

// statesDelivered returns the state that a pod had in each event of its own.
func statesDelivered(p *plugin.Plugin, pod string) (states []podstate.State) {
	for _, call := range p.Calls().Named(pod) {
		states = append(states, podstate.FromPod(call.Pod))
	}
	return states
}
