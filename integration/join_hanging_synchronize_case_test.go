// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// Nobody waits for a plugin that synchronizes but those who need its answer.
func TestL13_PluginThatHangsInSynchronizeHoldsUpNobody(t *testing.T) {
	t.Parallel()
	// On stock, a Synchronize has the time of a request.
	n := startTarget(t, timeouts{request: 30 * time.Second, registration: 30 * time.Second})
	other, hangs := plugin.New("10", "other"), plugin.New("20", "hangs")
	connect(t, n, other)
	before := newLife(t, n, "before")
	gate := newGate(t)
	hangs.Subscribe(plugin.UpdateContainer)
	hangs.On(plugin.Synchronize, gate.Hold)
	joined := connectInBackground(withinAMinute(t), t, n, hangs)
	requireClosed(t, gate.Entered(), "Synchronize")

	ctx, c := withinMoments(t), n.CRI()
	during, errRun := c.RunPod(ctx, c.Pod("during"))
	errStop, errRemove := c.StopPod(ctx, before.pod), c.RemovePod(ctx, before.pod)
	hung := isOpen(joined)
	toldDuring, toldBefore := other.Calls().Of(during).Events(), other.Calls().Of(before.pod).Events()
	gate.Release()
	require.NoError(t, <-joined)

	promise(t, "L13", "pods are created, stopped and removed while a plugin synchronizes", onStock("all of them wait for it"), func(t require.TestingT) {
		require.NoError(t, errRun)
		assert.NoError(t, errStop)
		assert.NoError(t, errRemove)
		assert.True(t, hung, "Synchronize was over before")
	})
	promise(t, "L13", "other plugins are told of them meanwhile", onStock("there is nothing to be told"), func(t require.TestingT) {
		assert.Equal(t, []plugin.Event{plugin.RunPodSandbox}, toldDuring)
		assert.ElementsMatch(t, whole, toldBefore)
		assert.Empty(t, history.Read(other.Calls(), nil).Faults())
	})
}

// A plugin that must be asked is waited for, up to the time that it has to
// synchronize, which is not that of a request. Then it is dropped.
func TestL13_PluginThatHangsInSynchronizeIsDropped(t *testing.T) {
	t.Parallel()
	n := startTarget(t, timeouts{request: 30 * time.Second, registration: time.Second})
	other, hangs := plugin.New("10", "other"), plugin.New("20", "hangs")
	connect(t, n, other)
	gate := newGate(t)
	hangs.On(plugin.Synchronize, gate.Hold)
	joined := connectInBackground(withinAMinute(t), t, n, hangs)
	requireClosed(t, gate.Entered(), "Synchronize")

	ctx, c := withinMoments(t), n.CRI()
	pod, errRun := c.RunPod(ctx, c.Pod("waits"))

	promise(t, "L13", "a plugin that hangs in Synchronize is waited for as long as it has to synchronize", onStock("it is waited for as long as it has for a request"), func(t require.TestingT) {
		require.NoError(t, errRun)
	})
	promise(t, "L13", "then it is dropped, and nothing is asked of it", onStock("it stays for as long as it has for a request"), func(t require.TestingT) {
		assert.Error(t, requireEnds(t, joined, "the registration"))
		assert.Equal(t, []plugin.Event{plugin.Configure, plugin.Synchronize}, hangs.Calls().Events())
	})
	promise(t, "L13", "pods come and go without it", onStock("none comes"), func(t require.TestingT) {
		require.NoError(t, c.StopPod(ctx, pod))
		require.NoError(t, c.RemovePod(ctx, pod))
		assert.Equal(t, undone, other.Calls().Of(pod).Events(), "a life without containers")
		requireNothingLeft(t, n)
	})
}
