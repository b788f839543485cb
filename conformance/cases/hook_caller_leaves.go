// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A plugin that works does not learn that nobody waits for it any more: it is
// asked to undo what it does only once it has done it.
var _ = Pod.has("L4_StopWaitsForTheHookOfACallerThatLeft", Patient, func(t T) {
	n := t.Runtime()
	timeout, _ := n.Timeouts()
	works := NewPlugin(t, "10", "works")
	Connect(t, n, works)
	ctx, leave := context.WithCancel(WithinAMinute(t))
	defer leave()
	pod := NewInHookOf(ctx, t, n, works, "left")
	leave()
	require.Error(t, RequireEnds(t, pod.Ran, "the call of who left"))
	RequireWaiting(t, n, works, 1)
	pod.Gate.Release()
	RequireSoon(t, "the end of the hook", func(context.Context) error { return HasAnswered(works, plugin.RunPodSandbox) })

	t.Promise("L4", "a plugin is asked to stop a pod once it has done with its hook, though the caller left", OnStock("it is asked at once, in the midst of the hook"), func(t require.TestingT) {
		RequireSoon(t, "StopPodSandbox", func(context.Context) error { return HasAnswered(works, plugin.StopPodSandbox) })
		calls := works.Calls().Named("left")
		run, stop := calls.Only(plugin.RunPodSandbox), calls.Only(plugin.StopPodSandbox)
		require.Len(t, run, 1)
		require.Len(t, stop, 1)
		assert.False(t, stop[0].Start.Before(run[0].End), "Stop begins %s before the hook ends", run[0].End.Sub(stop[0].Start))
	})
	if stop := works.Calls().Only(plugin.StopPodSandbox); len(stop) > 0 {
		InTimeouts(t, "from the begin of the hook to Stop", stop[0].Start.Sub(works.Calls().Only(plugin.RunPodSandbox)[0].Start), timeout)
	}
	t.Promise("L7", "it is told of the whole of the end, one event at a time", OnStock(UndoneDead), func(t require.TestingT) {
		RequireSoon(t, "RemovePodSandbox", func(context.Context) error { return HasAnswered(works, plugin.RemovePodSandbox) })
		assert.Equal(t, Undone, works.Calls().Named("left").Events())
		RequireWholeEnds(t, works)
	})
	t.Promise("L7", "nothing is left", RollBackRaces, func(t require.TestingT) { RequireNothingLeft(t, n) })
})
