// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A plugin freezes at the first of twenty pods, and stays connected by its own failure policy.
// Some of the pods end before it wakes up.
var _ = Pod.has("L22_FrozenPluginCostsOneTimeoutHoweverManyPods", Within(3*time.Second), func(t T) {
	const pods, atATime = 20, 8
	n := t.Runtime()
	timeout, _ := n.Timeouts()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // on stock, each pod waits for a timeout
	defer cancel()
	other := NewPlugin(t, "20", "other")
	Connect(t, n, other)
	run := func(name string) (created []CreationOf, took time.Duration) {
		start := time.Now()
		created = RunPods(ctx, n, atATime, time.Minute, PodsNamed(n, name, pods)...)
		return created, time.Since(start)
	}
	usual, allUsual := run("usual")
	RequireAllCreated(t, usual)
	RemoveAllPods(ctx, t, n.CRI())

	frozen := JoinProcess(t, n, plugin.Script{
		Index: "10", Name: "frozen",
		Policy:  &api.FailurePolicy{KeepConnected: true},
		Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: {Freeze: true}},
	})
	created, all := run("pod")
	require.NoError(t, frozen.Frozen(ctx))
	RequireAllCreated(t, created)
	RequireSoon(t, "its record", func(context.Context) error { return HasGot(frozen, plugin.RunPodSandbox) })
	asked := frozen.Calls().Only(plugin.RunPodSandbox)
	require.Len(t, asked, 1)
	var living, ended []string
	for _, c := range created {
		if c.ID != asked[0].Pod.GetId() && len(ended) < 3 {
			ended = append(ended, c.ID)
		} else {
			living = append(living, c.ID)
		}
	}
	var slowestEnd time.Duration
	for _, pod := range ended {
		slowestEnd = max(slowestEnd, EndPod(ctx, t, n, pod))
	}
	InTimeouts(t, "slowest pod of 20 usually", Slowest(usual), timeout)
	InTimeouts(t, "slowest pod of 20 with the frozen plugin", Slowest(created), timeout)
	InTimeouts(t, "20 pods usually", allUsual, timeout)
	InTimeouts(t, "20 pods with the frozen plugin", all, timeout)
	InTimeouts(t, "slowest end of three pods", slowestEnd, timeout)
	require.NoError(t, frozen.Thaw())

	t.Promise("L22", "the slowest pod waits one timeout for a frozen plugin", KeptOnStock, func(t require.TestingT) {
		assert.Less(t, Slowest(created), timeout+2*Slowest(usual))
	})
	t.Promise("L22", "all pods together wait one timeout for it", KeptOnStock, func(t require.TestingT) {
		assert.Less(t, all, timeout+2*allUsual)
	})
	t.Promise("L9", "the end of a pod that the frozen plugin does not know does not wait for it", KeptOnStock, func(t require.TestingT) {
		assert.Less(t, slowestEnd, timeout)
	})
	t.Promise("L14", "other plugins receive all events", KeptOnStock, func(t require.TestingT) {
		for _, c := range created {
			assert.Equal(t, plugin.RunPodSandbox, other.Calls().Of(c.ID).Events()[0])
		}
	})
	t.Promise("L2", "once the plugin wakes up, it receives the pods that still exist", OnStock(NoPolicies), func(t require.TestingT) {
		RequireSoon(t, "all pods that exist", func(context.Context) error {
			for _, pod := range living {
				if err := HasAnsweredOf(frozen, pod, plugin.RunPodSandbox); err != nil {
					return err
				}
			}
			return nil
		})
		assert.Empty(t, frozen.Gone(), "it was dropped")
	})
	t.Promise("L3", "it receives nothing about pods that began and ended meanwhile", KeptOnStock, func(t require.TestingT) {
		for _, pod := range ended {
			assert.Empty(t, frozen.Calls().Of(pod).Events())
		}
	})
	t.Promise("L4", "it receives one event at a time, until all pods have ended", OnStock(NoPolicies), func(t require.TestingT) {
		RemoveAllPods(ctx, t, n.CRI())
		RequireWholeEnds(t, frozen)
		RequireNothingLeft(t, n)
	})
})
