// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A pod that waits for a disconnected plugin holds nothing: no address, no network namespace, no
// process. A pod whose plugin disconnects while its network is set up waits at the hook.
func TestL20_PodThatWaitsForARequiredPluginHoldsNothing(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(PluginSetting("must", "required_for = ['pods']\nwait = '50s'")))
	ctx := WithinAMinute(t)
	ran := make(chan []CreationOf, 1)
	go func() { ran <- RunPods(ctx, n, 1, time.Minute, PodsNamed(n, "early", 1)...) }()
	if RunsOnStock {
		early := <-ran
		RequireAllCreated(t, early)
		EndPod(ctx, t, n, early[0].ID)
	} else {
		RequireSoon(t, "the pod that waits", func(context.Context) error { return WaitFor(t, n, "must", 1) })
	}
	Promise(t, "L20", "a pod that waits holds nothing", OnStock("it exists"), func(t require.TestingT) {
		if RunsOnStock {
			require.Fail(t, "the pod started without the plugin")
		}
		left, err := n.Leftovers(ctx)
		require.NoError(t, err)
		assert.Empty(t, left)
		require.Empty(t, ran, "it still waits")
	})
	must := JoinProcess(t, n, plugin.Script{Index: "20", Name: "must"})
	if !RunsOnStock {
		RequireAllCreated(t, <-ran)
	}

	add, during := HoldCreation(ctx, t, n, node.Before("ptp", "ADD"), n.CRI().Pod("during"))
	require.NoError(t, must.Kill())
	RequireSoon(t, "the plugin to be disconnected", func(context.Context) error { return IsDisconnected(t, n) })
	require.NoError(t, add.Release())
	if RunsOnStock {
		require.NoError(t, <-during) // on stock it does not wait
	} else {
		RequireSoon(t, "the pod that waits at the hook", func(context.Context) error { return WaitFor(t, n, "must", 1) })
	}
	next := JoinProcess(t, n, plugin.Script{Index: "20", Name: "must"})
	if !RunsOnStock {
		require.NoError(t, <-during)
	}
	Promise(t, "L20", "a pod whose plugin disconnects during its ADD starts with the approval of the next process", OnStock(NotRequired), func(t require.TestingT) {
		// It was asked about no other pod.
		RequireSoon(t, "its approval", func(context.Context) error { return HasAnswered(next, plugin.RunPodSandbox) })
	})
	RemoveAllPods(ctx, t, n.CRI())
	RequireNothingLeft(t, n)
}
