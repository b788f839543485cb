// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Registration waits for the operations that run, and holds up those that
// come. It must not hold up a part of an operation that it waits for.
var _ = Joining.has("L13_RegistrationAndRemovalDoNotWaitForOneAnother", Needs{}, func(t T) {
	n := t.Runtime()
	slow, joining := NewPlugin(t, "10", "slow"), NewPlugin(t, "20", "joins")
	Connect(t, n, slow)
	l := NewLife(t, n, "crowded")
	ctx, c := WithinAMinute(t), n.CRI()
	for _, name := range []string{"second", "third"} {
		_, err := c.Create(ctx, l.Pod, c.Pod("crowded"), c.Container(name))
		require.NoError(t, err)
	}
	require.NoError(t, c.StopPod(ctx, l.Pod))
	gate := plugin.NewGate()
	defer gate.Release()
	slow.On(plugin.RemoveContainer, gate.Hold)
	configured := make(chan struct{})
	joining.On(plugin.Configure, func(context.Context, *plugin.Call) error {
		close(configured)
		return nil
	})

	// Neither waits for long. On a wedged runtime, nothing but these ends.
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	removed, joined := make(chan error, 1), make(chan error, 1)
	go func() { removed <- c.RemovePod(ctx, l.Pod) }()
	RequireClosed(t, gate.Entered(), "the removal of the first container")
	go func() { joined <- joining.Connect(ctx, n.NRISocket()) }()
	Watch(t, joining)
	t.Cleanup(joining.Crash)
	RequireClosed(t, configured, "the configuration of the plugin that joins")
	gate.Release()

	errRemoved, errJoined := <-removed, <-joined
	t.Promise("L13", "a pod is removed while a plugin registers", OnStock("both wedge for good"), func(t require.TestingT) {
		assert.NoError(t, errRemoved)
	})
	t.Promise("L13", "a plugin registers while a pod is removed", OnStock("both wedge for good"), func(t require.TestingT) {
		assert.NoError(t, errJoined)
	})
	t.Promise("L3", "the end of each container is told, and nothing is left", OnStock("both wedge for good"), func(t require.TestingT) {
		assert.Len(t, slow.Calls().Of(l.Pod).Only(plugin.RemoveContainer).Events(), 3)
		RequireNothingLeft(t, n)
	})
})
