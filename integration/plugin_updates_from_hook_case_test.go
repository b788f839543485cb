// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// A plugin may ask for updates of containers from inside any of its handlers.
func TestL4_PluginMayAskForUpdatesInItsHandlers(t *testing.T) {
	t.Parallel()
	n := startTarget(t, timeouts{request: 3 * time.Second})
	p := plugin.New("10", "asks")
	connect(t, n, p)
	running := newLife(t, n, "running")
	update := &api.ContainerUpdate{}
	update.SetContainerId(running.container)
	update.SetLinuxCPUShares(512)
	asked := make(chan error, 1)
	p.On(plugin.RunPodSandbox, func(context.Context, *plugin.Call) error {
		failed, err := p.UpdateContainers([]*api.ContainerUpdate{update})
		assert.Empty(t, failed)
		asked <- err
		return err
	})

	_, errRun := n.CRI().RunPod(withinAMinute(t), n.CRI().Pod("asking"))
	promise(t, "L4", "a plugin that asks for updates in a handler does not wait for itself", onStock("it does, until the hook times out"), func(t require.TestingT) {
		require.NoError(t, errRun)
		require.NoError(t, <-asked)
		call := p.Calls().Named("asking").Only(plugin.RunPodSandbox)[0]
		assert.NoError(t, call.Abandoned, "the runtime gave up on the hook")
	})
}
