// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The caller cancels while a plugin handles RunPodSandbox. The plugin is asked to undo its
// work only after it has finished it.
var _ = Pod.has("L4_StopWaitsForTheHookOfACanceledCreation", Patient, func(t T) {
	n := t.Runtime()
	timeout, _ := n.Timeouts()
	works := NewPlugin(t, "10", "works")
	Connect(t, n, works)
	ctx, leave := context.WithCancel(WithinAMinute(t))
	defer leave()
	pod := NewInHookOf(ctx, t, n, works, "left")
	leave()
	require.Error(t, RequireEnds(t, pod.Ran, "the call that was canceled"))
	RequireWaiting(t, n, works, 1)
	pod.Gate.Release()
	RequireSoon(t, "the end of the hook", func(context.Context) error { return HasAnswered(works, plugin.RunPodSandbox) })

	t.Promise("L4", "StopPodSandbox waits until the plugin has answered RunPodSandbox, though the caller canceled", OnStock("the plugin receives it at once, during the hook"), func(t require.TestingT) {
		RequireSoon(t, "StopPodSandbox", func(context.Context) error { return HasAnswered(works, plugin.StopPodSandbox) })
		calls := works.Calls().Named("left")
		run, stop := calls.Only(plugin.RunPodSandbox), calls.Only(plugin.StopPodSandbox)
		require.Len(t, run, 1)
		require.Len(t, stop, 1)
		assert.False(t, stop[0].Start.Before(run[0].End), "Stop begins %s before the hook ends", run[0].End.Sub(stop[0].Start))
	})
	if stop := works.Calls().Only(plugin.StopPodSandbox); len(stop) > 0 {
		InTimeouts(t, "from the begin of the hook to StopPodSandbox", stop[0].Start.Sub(works.Calls().Only(plugin.RunPodSandbox)[0].Start), timeout)
	}
	t.Promise("L7", "it receives the whole end, one event at a time", OnStock(UndoneDead), func(t require.TestingT) {
		RequireSoon(t, "RemovePodSandbox", func(context.Context) error { return HasAnswered(works, plugin.RemovePodSandbox) })
		assert.Equal(t, Undone, works.Calls().Named("left").Events())
		RequireWholeEnds(t, works)
	})
	t.Promise("L7", "nothing is left", RollBackRaces, func(t require.TestingT) { RequireNothingLeft(t, n) })
})
