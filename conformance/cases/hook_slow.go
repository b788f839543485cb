// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

var _ = Pod.has("L14_SlowHookDelaysOnlyItsOwnPod", Patient, func(t T) {
	n := t.Runtime()
	slow, other := NewPlugin(t, "10", "slow"), NewPlugin(t, "20", "other")
	slow.Subscribe(plugin.RunPodSandbox, plugin.StopPodSandbox, plugin.RemovePodSandbox)
	Connect(t, n, slow, other)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Pod("quick")
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	held := NewInHook(t, n, slow, "held")

	// The whole life of a container, while the hook hangs.
	short := WithinMoments(t)
	container, errLife := c.Create(short, pod, config, c.Container("main"))
	for _, step := range []func() error{
		func() error { return c.Start(short, container) },
		func() error { return c.Stop(short, container, 0) },
		func() error { return c.Remove(short, container) },
	} {
		if errLife == nil {
			errLife = step()
		}
	}
	received := other.Calls().Of(pod).Events()
	isHeld := IsOpen(held.Ran)
	held.Gate.Release()
	require.NoError(t, <-held.Ran)

	t.Promise("L14", "a slow hook delays only its own pod", OnStock("the containers of all other pods wait for it"), func(t require.TestingT) {
		assert.NoError(t, errLife)
		assert.True(t, isHeld, "the hook was over before")
	})
	t.Promise("L14", "other plugins receive events of containers meanwhile", OnStock("they receive none"), func(t require.TestingT) {
		assert.Equal(t, []plugin.Event{
			plugin.RunPodSandbox, plugin.CreateContainer, plugin.PostCreateContainer, plugin.StartContainer,
			plugin.PostStartContainer, plugin.StopContainer, plugin.RemoveContainer,
		}, received)
	})
})
