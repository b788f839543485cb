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

// A plugin that works does not learn that nobody waits for it any more: it is
// asked to undo what it does only once it has done it.
func TestL4_StopWaitsForTheHookOfACallerWhoLeft(t *testing.T) {
	t.Parallel()
	const timeout, work = 10 * time.Second, 1500 * time.Millisecond
	n := startTarget(t, timeouts{request: timeout})
	works := joinProcess(t, n, plugin.Script{
		Index: "10", Name: "works",
		Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: {Work: work}},
	})
	config := n.CRI().Pod("left")
	ctx, leave := context.WithCancel(withinAMinute(t))
	defer leave()
	ran := inBackground(func() error { _, err := n.CRI().RunPod(ctx, config); return err })
	requireSoon(t, "the hook", func(context.Context) error { return hasGot(works, plugin.RunPodSandbox) })
	leave()
	require.Error(t, requireEnds(t, ran, "the call of who left"))
	requireSoon(t, "the end of the hook", func(context.Context) error { return hasAnswered(works, plugin.RunPodSandbox) })

	promise(t, "L4", "a plugin is asked to stop a pod once it has done with its hook, though the caller left", onStock("it is asked at once, in the midst of the hook"), func(t require.TestingT) {
		requireSoon(t, "StopPodSandbox", func(context.Context) error { return hasAnswered(works, plugin.StopPodSandbox) })
		calls := works.Calls().Named("left")
		run, stop := calls.Only(plugin.RunPodSandbox), calls.Only(plugin.StopPodSandbox)
		require.Len(t, run, 1)
		require.Len(t, stop, 1)
		assert.False(t, stop[0].Start.Before(run[0].End), "Stop begins %s before the hook ends", run[0].End.Sub(stop[0].Start))
	})
	if stop := works.Calls().Only(plugin.StopPodSandbox); len(stop) > 0 {
		inTimeouts(t, "from the begin of the hook to Stop", stop[0].Start.Sub(works.Calls().Only(plugin.RunPodSandbox)[0].Start), timeout)
	}
	promise(t, "L7", "it is told of the whole of the end, one event at a time", onStock(undoneDead), func(t require.TestingT) {
		requireSoon(t, "RemovePodSandbox", func(context.Context) error { return hasAnswered(works, plugin.RemovePodSandbox) })
		assert.Equal(t, undone, works.Calls().Named("left").Events())
		requireWholeEnds(t, works)
	})
	promise(t, "L7", "nothing is left", rollBackRaces, func(t require.TestingT) { requireNothingLeft(t, n) })
}
