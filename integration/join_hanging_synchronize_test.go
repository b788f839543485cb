// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Nobody waits for a plugin that synchronizes but those who need its answer.
func TestL13_HangingSynchronizeHoldsUpNobody(t *testing.T) {
	// On stock, a Synchronize has the time of a request.
	n := startNode(t, func(o *node.Options) { o.RegistrationTimeout, o.RequestTimeout = 30*time.Second, 30*time.Second })
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
	gate.Release()
	require.NoError(t, <-joined)

	stockBreaks(t, "L13", "while one plugin synchronizes, no pod can be created, stopped or removed", func(t require.TestingT) {
		require.NoError(t, errRun)
		assert.NoError(t, errStop)
		assert.NoError(t, errRemove)
		assert.True(t, hung, "Synchronize was over before")
		assert.Equal(t, []plugin.Event{plugin.RunPodSandbox}, other.Calls().Of(during).Events())
		assert.Len(t, other.Calls().Of(before.pod).Events(), len(whole))
		assert.Empty(t, history.Read(other.Calls(), nil).Faults())
	})
}

// A plugin that must be asked is waited for, up to the time that it has to
// synchronize, which is not that of a request. Then it is dropped.
func TestL13_HangingSynchronizeIsCut(t *testing.T) {
	n := startNode(t, func(o *node.Options) { o.RegistrationTimeout, o.RequestTimeout = time.Second, 30*time.Second })
	other, hangs := plugin.New("10", "other"), plugin.New("20", "hangs")
	connect(t, n, other)
	gate := newGate(t)
	hangs.On(plugin.Synchronize, gate.Hold)
	joined := connectInBackground(withinAMinute(t), t, n, hangs)
	requireClosed(t, gate.Entered(), "Synchronize")

	ctx, c := withinMoments(t), n.CRI()
	pod, errRun := c.RunPod(ctx, c.Pod("waits"))

	stockBreaks(t, "L13", "a plugin that hangs in Synchronize is waited for as long as for a request", func(t require.TestingT) {
		require.NoError(t, errRun)
		assert.Error(t, <-joined)
		assert.NoError(t, c.StopPod(ctx, pod))
		assert.NoError(t, c.RemovePod(ctx, pod))
		assert.Equal(t, undone, other.Calls().Of(pod).Events(), "a life without containers")
		assert.Equal(t, []plugin.Event{plugin.Configure, plugin.Synchronize}, hangs.Calls().Events())
		requireNothingLeft(t, n)
	})
}
