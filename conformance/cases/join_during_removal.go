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

// A registration waits for the operations that run, and delays later ones. It must not delay
// a part of an operation that it waits for.
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

	// Neither waits for long. On a wedged runtime, only these deadlines end them.
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
	t.Promise("L13", "a pod is removed while a plugin registers", OnStock("both deadlock"), func(t require.TestingT) {
		assert.NoError(t, errRemoved)
	})
	t.Promise("L13", "a plugin registers while a pod is removed", OnStock("both deadlock"), func(t require.TestingT) {
		assert.NoError(t, errJoined)
	})
	t.Promise("L3", "the plugins receive the end of each container, and nothing is left", OnStock("both deadlock"), func(t require.TestingT) {
		assert.Len(t, slow.Calls().Of(l.Pod).Only(plugin.RemoveContainer).Events(), 3)
		RequireNothingLeft(t, n)
	})
})
