// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// Registration waits for the operations that run, and holds up those that
// come. It must not hold up a part of an operation that it waits for.
func TestL13_RegistrationAndRemovalDoNotWaitForOneAnother(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	slow, joining := plugin.New("10", "slow"), plugin.New("20", "joins")
	connect(t, n, slow)
	l := newLife(t, n, "crowded")
	ctx, c := withinAMinute(t), n.CRI()
	for _, name := range []string{"second", "third"} {
		_, err := c.Create(ctx, l.pod, c.Pod("crowded"), c.Container(name))
		require.NoError(t, err)
	}
	require.NoError(t, c.StopPod(ctx, l.pod))
	gate := plugin.NewGate()
	defer gate.Release()
	slow.On(plugin.RemoveContainer, gate.Hold)
	configured := make(chan struct{})
	joining.On(plugin.Configure, func(context.Context, *plugin.Call) error {
		close(configured)
		return nil
	})

	// Neither may take long. On a wedged runtime, nothing but these ends.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	removed, joined := make(chan error, 1), make(chan error, 1)
	go func() { removed <- c.RemovePod(ctx, l.pod) }()
	requireClosed(t, gate.Entered(), "the removal of the first container")
	go func() { joined <- joining.Connect(ctx, n.NRISocket()) }()
	t.Cleanup(joining.Crash)
	requireClosed(t, configured, "the configuration of the plugin that joins")
	gate.Release()

	errRemoved, errJoined := <-removed, <-joined
	promise(t, "L13", "a pod is removed while a plugin registers", onStock("both wedge for good"), func(t require.TestingT) {
		assert.NoError(t, errRemoved)
	})
	promise(t, "L13", "a plugin registers while a pod is removed", onStock("both wedge for good"), func(t require.TestingT) {
		assert.NoError(t, errJoined)
	})
	promise(t, "L3", "the end of each container is told, and nothing is left", onStock("both wedge for good"), func(t require.TestingT) {
		assert.Len(t, slow.Calls().Of(l.pod).Only(plugin.RemoveContainer).Events(), 3)
		requireNothingLeft(t, n)
	})
}
