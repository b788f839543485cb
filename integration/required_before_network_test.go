// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A pod that waits for a plugin that is away holds nothing: no address, no network
// namespace, no process. One whose plugin goes while its network is made waits at the hook.
func TestL20_PodThatWaitsForARequiredPluginHoldsNothing(t *testing.T) {
	t.Parallel()
	n := startNode(t, operator(pluginSetting("must", "required_for = ['pods']\nwait = '50s'")))
	ctx := withinAMinute(t)
	ran := make(chan []creationOf, 1)
	go func() { ran <- runPods(ctx, n, 1, time.Minute, podsNamed(n, "early", 1)...) }()
	if runsOnStock {
		early := <-ran
		requireAllCreated(t, early)
		endPod(ctx, t, n, early[0].ID)
	} else {
		requireSoon(t, "the pod that waits", func(context.Context) error { return waitFor(t, n, "must", 1) })
	}
	promise(t, "L20", "there is nothing of a pod that waits", onStock("it is there"), func(t require.TestingT) {
		if runsOnStock {
			require.Fail(t, "the pod came up without the plugin")
		}
		left, err := n.Leftovers(ctx)
		require.NoError(t, err)
		assert.Empty(t, left)
		require.Empty(t, ran, "and it waits still")
	})
	must := joinProcess(t, n, plugin.Script{Index: "20", Name: "must"})
	if !runsOnStock {
		early := <-ran
		requireAllCreated(t, early)
		promise(t, "L20", "it comes up with the word of the plugin", keptOnStock, func(t require.TestingT) {
			requireWord(t, early[0].ID, must)
		})
	}

	add, err := n.HoldADD("during")
	require.NoError(t, err)
	pod := n.CRI().Pod("during")
	var id string
	during := inBackground(func() (err error) { id, err = n.CRI().RunPod(ctx, pod); return err })
	require.NoError(t, add.Entered(ctx))
	require.NoError(t, must.Kill())
	requireSoon(t, "the plugin to be gone", func(context.Context) error { return isAway(t, n) })
	require.NoError(t, add.Release())
	if runsOnStock {
		require.NoError(t, <-during) // it waits for nobody
	} else {
		requireSoon(t, "the pod that waits at the hook", func(context.Context) error { return waitFor(t, n, "must", 1) })
	}
	next := joinProcess(t, n, plugin.Script{Index: "20", Name: "must"})
	if !runsOnStock {
		require.NoError(t, <-during)
	}
	promise(t, "L20", "one whose plugin went during its ADD has the word of the next", onStock(fixture.NotRequired), func(t require.TestingT) {
		requireWord(t, id, next)
	})
	removeAllPods(ctx, t, n.CRI())
	requireNothingLeft(t, n)
}
