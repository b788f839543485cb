// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A plugin may ask for updates of containers from inside any of its handlers.
func TestL4_UpdatesFromInsideAHandler(t *testing.T) {
	n := startNode(t, func(o *node.Options) { o.RequestTimeout = 3 * time.Second })
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
	stockBreaks(t, "L4", "a plugin that asks for updates from inside a handler waits for itself", func(t require.TestingT) {
		require.NoError(t, errRun)
		require.NoError(t, <-asked)
		call := p.Calls().Named("asking").Only(plugin.RunPodSandbox)[0]
		assert.NoError(t, call.Abandoned, "the runtime gave up on the hook")
	})
}

// Somebody who connects and says nothing keeps no plugin from registering.
func TestL13_StalledRegistrationHoldsUpNobody(t *testing.T) {
	n := startNode(t, func(o *node.Options) { o.RegistrationTimeout = 30 * time.Second })
	silent, err := new(net.Dialer).DialContext(withinAMinute(t), "unix", n.NRISocket())
	require.NoError(t, err)
	defer silent.Close()

	errJoin := <-connectInBackground(withinMoments(t), t, n, plugin.New("10", "prompt"))
	stockBreaks(t, "L13", "plugins register one at a time, and wait for one that stalls", func(t require.TestingT) {
		assert.NoError(t, errJoin)
	})
}
