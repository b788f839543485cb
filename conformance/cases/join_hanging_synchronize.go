// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Only an operation that needs a plugin's answer waits for its Synchronize.
var _ = Joining.has("L13_PluginThatHangsInSynchronizeBlocksNothing", Holding, func(t T) {
	n := t.Runtime()
	other, hangs := NewPlugin(t, "10", "other"), NewPlugin(t, "20", "hangs")
	Connect(t, n, other)
	before := NewLife(t, n, "before")
	gate := NewGate(t)
	hangs.Subscribe(plugin.UpdateContainer)
	hangs.On(plugin.Synchronize, gate.Hold)
	joined := ConnectInBackground(WithinAMinute(t), t, n, hangs)
	RequireClosed(t, gate.Entered(), "Synchronize")

	ctx, c := WithinMoments(t), n.CRI()
	during, errRun := c.RunPod(ctx, c.Pod("during"))
	errStop, errRemove := c.StopPod(ctx, before.Pod), c.RemovePod(ctx, before.Pod)
	hung := IsOpen(joined)
	deliveredDuring, deliveredBefore := other.Calls().Of(during).Events(), other.Calls().Of(before.Pod).Events()
	gate.Release()
	require.NoError(t, <-joined)

	t.Promise("L13", "pods are created, stopped and removed while a plugin synchronizes", OnStock("all of them wait for it"), func(t require.TestingT) {
		require.NoError(t, errRun)
		assert.NoError(t, errStop)
		assert.NoError(t, errRemove)
		assert.True(t, hung, "Synchronize was over before")
	})
	t.Promise("L13", "other plugins receive these pods meanwhile", OnStock("no pod starts or ends meanwhile"), func(t require.TestingT) {
		assert.Equal(t, []plugin.Event{plugin.RunPodSandbox}, deliveredDuring)
		assert.ElementsMatch(t, Whole, deliveredBefore)
		assert.Empty(t, history.Read(other.Calls(), nil).Faults())
	})
})

// A creation waits for a plugin that must be asked, for at most the plugin's timeout for
// Synchronize, which is that of a request. Then the plugin is dropped.
var _ = Joining.has("L13_PluginThatHangsInSynchronizeIsDropped", Needs{Timeouts: Timeouts{Request: time.Second, Registration: time.Minute}}, func(t T) {
	n := t.Runtime()
	other, hangs := NewPlugin(t, "10", "other"), NewPlugin(t, "20", "hangs")
	Connect(t, n, other)
	gate := NewGate(t)
	hangs.On(plugin.Synchronize, gate.Hold)
	joined := ConnectInBackground(WithinAMinute(t), t, n, hangs)
	RequireClosed(t, gate.Entered(), "Synchronize")

	request, _ := n.Timeouts()
	// Long enough for a busy machine, and less than the registration timeout of a node made for
	// this.
	ctx, cancel := context.WithTimeout(t.Context(), request+20*time.Second)
	defer cancel()
	c := n.CRI()
	pod, errRun := c.RunPod(ctx, c.Pod("waits"))

	t.Promise("L13", "a creation waits one request timeout for a plugin that hangs in Synchronize", KeptOnStock, func(t require.TestingT) {
		require.NoError(t, errRun)
	})
	t.Promise("L13", "then the plugin is dropped, and receives no event", KeptOnStock, func(t require.TestingT) {
		assert.Error(t, RequireEnds(t, joined, "the registration"))
		assert.Equal(t, []plugin.Event{plugin.Configure, plugin.Synchronize}, hangs.Calls().Events())
	})
	t.Promise("L13", "pods are created and removed without it", KeptOnStock, func(t require.TestingT) {
		require.NoError(t, c.StopPod(ctx, pod))
		require.NoError(t, c.RemovePod(ctx, pod))
		assert.Equal(t, Undone, other.Calls().Of(pod).Events(), "a life without containers")
		RequireNothingLeft(t, n)
	})
})
