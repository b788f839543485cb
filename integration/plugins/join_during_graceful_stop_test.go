// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

func TestL13_RegistrationWaitsForNoGracefulStop(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	joining := plugin.New("10", "joins")
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Pod("graceful")
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	container, err := c.Create(ctx, pod, config, c.Container("main", "-stubborn"))
	require.NoError(t, err)
	require.NoError(t, c.Start(ctx, container))
	require.NoError(t, n.Settled(ctx, container))

	stopped := InBackground(func() error { return c.Stop(ctx, container, time.Hour) })
	require.NoError(t, n.Resisting(ctx, container))
	joinCtx := WithinMoments(t)
	joined := ConnectInBackground(joinCtx, t, n, joining)
	RequireSoon(t, "the registration", func(context.Context) error { return HasGot(joining, plugin.Configure) })
	_, errRan := c.RunPod(joinCtx, c.Pod("unrelated"))
	errJoined := <-joined
	stillStopping := IsOpen(stopped)
	require.NoError(t, n.Signal(ctx, container, unix.SIGINT))
	require.NoError(t, <-stopped)

	Promise(t, "L13", "a plugin joins during a container's grace period", OnStock("it waits for the end of the grace period"), func(t require.TestingT) {
		assert.NoError(t, errJoined)
		assert.True(t, stillStopping, "the grace period was over before")
	})
	Promise(t, "L13", "other pods are created meanwhile", OnStock("they wait for the plugin that joins"), func(t require.TestingT) {
		assert.NoError(t, errRan)
	})
	Promise(t, "L3", "a plugin that joined receives the container's end", OnStock(CannotJoin), func(t require.TestingT) {
		assert.Equal(t, []plugin.Event{plugin.StopContainer}, joining.Calls().Of(pod).Events())
		assert.Empty(t, history.Read(joining.Calls(), nil).Faults())
	})
}
