// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A plugin may ask for updates of containers in any of its handlers.
var _ = Container.has("L4_PluginMayAskForUpdatesInItsHandlers", Within(3*time.Second), func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "asks")
	Connect(t, n, p)
	running := NewLife(t, n, "running")
	update := &api.ContainerUpdate{}
	update.SetContainerId(running.Container)
	update.SetLinuxCPUShares(512)
	asked := make(chan error, 1)
	p.On(plugin.RunPodSandbox, func(context.Context, *plugin.Call) error {
		failed, err := p.UpdateContainers([]*api.ContainerUpdate{update})
		assert.Empty(t, failed)
		asked <- err
		return err
	})

	_, errRun := n.CRI().RunPod(WithinAMinute(t), n.CRI().Pod("asking"))
	t.Promise("L4", "a plugin that asks for updates in a handler does not block itself", OnStock("it blocks itself until the hook times out"), func(t require.TestingT) {
		require.NoError(t, errRun)
		require.NoError(t, <-asked)
		call := p.Calls().Named("asking").Only(plugin.RunPodSandbox)[0]
		assert.NoError(t, call.Abandoned, "the runtime canceled the hook")
	})
})
