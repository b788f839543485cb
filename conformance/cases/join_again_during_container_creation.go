// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// A plugin adjusts a container, crashes, and reconnects while the next plugin is asked. Were
// it asked again, its own first adjustment would conflict with the second.
var _ = Joining.has("L2_PluginThatReturnsDuringACreationAdjustsOnce", Patient, func(t T) {
	n := t.Runtime()
	adjusts, slow := NewPlugin(t, "10", "adjusts"), NewPlugin(t, "20", "slow")
	adjusts.On(plugin.CreateContainer, func(_ context.Context, call *plugin.Call) error {
		call.Adjust = &api.ContainerAdjustment{Annotations: map[string]string{"adjusted.example.org": "once"}}
		return nil
	})
	Connect(t, n, adjusts, slow)
	container := NewInCreation(t, n, slow, "adjusted")
	adjusts.Crash()
	RequireClosed(t, adjusts.Closed(), "the end of its connection")
	errBack := <-ConnectInBackground(WithinMoments(t), t, n, adjusts)
	container.Gate.Release()
	errCreated := <-container.Created
	if errBack == nil { // the event is delivered late, for which the creation does not wait (L22)
		_ = wait.Until(WithinMoments(t), "the late event", func(context.Context) error { return HasAnsweredOf(adjusts, container.Pod, plugin.PostCreateContainer) })
	}
	calls := adjusts.Calls()
	require.NoError(t, n.CRI().RemovePod(WithinAMinute(t), container.Pod))

	t.Promise("L2", "the container is created", KeptOnStock, func(t require.TestingT) { require.NoError(t, errCreated) })
	t.Promise("L13", "the plugin can reconnect while another is asked about a container", OnStock(CannotJoin), func(t require.TestingT) {
		require.NoError(t, errBack)
	})
	t.Promise("L2", "its next connection receives the container once", OnStock(CannotJoin), func(t require.TestingT) {
		require.NoError(t, errBack)
		received := calls.Connections()
		require.Len(t, received, 2)
		assert.Len(t, received[1].Only(plugin.CreateContainer), 1)
		assert.Len(t, received[1].Only(plugin.PostCreateContainer), 1)
		for _, life := range adjusts.Calls().Connections() {
			assert.Empty(t, history.Read(life, nil).Faults())
		}
	})
	RequireNothingLeft(t, n)
})
