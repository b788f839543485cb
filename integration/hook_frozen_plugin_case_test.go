// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// A plugin freezes at the first of twenty pods, and stays connected, as it asked
// for. Some of the pods end before it wakes up.
func TestL22_FrozenPluginCostsOneTimeoutHoweverManyPods(t *testing.T) {
	t.Parallel()
	const timeout, pods, atATime = 3 * time.Second, 20, 8
	n := startTarget(t, timeouts{request: timeout})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // on stock, each pod takes its time
	defer cancel()
	other := plugin.New("20", "other")
	connect(t, n, other)
	run := func(name string) (created []creationOf, took time.Duration) {
		start := time.Now()
		created = runPods(ctx, n, atATime, time.Minute, podsNamed(n, name, pods)...)
		return created, time.Since(start)
	}
	usual, allUsual := run("usual")
	requireAllCreated(t, usual)
	removeAllPods(ctx, t, n.CRI())

	frozen := joinProcess(t, n, plugin.Script{
		Index: "10", Name: "frozen",
		Policy:  &api.FailurePolicy{KeepConnected: true},
		Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: {Freeze: true}},
	})
	created, all := run("pod")
	require.NoError(t, frozen.Frozen(ctx))
	requireAllCreated(t, created)
	requireSoon(t, "its record", func(context.Context) error { return hasGot(frozen, plugin.RunPodSandbox) })
	asked := frozen.Calls().Only(plugin.RunPodSandbox)
	require.Len(t, asked, 1)
	var living, ended []string
	for _, c := range created {
		if c.id != asked[0].Pod.GetId() && len(ended) < 3 {
			ended = append(ended, c.id)
		} else {
			living = append(living, c.id)
		}
	}
	var slowestEnd time.Duration
	for _, pod := range ended {
		slowestEnd = max(slowestEnd, endPod(ctx, t, n, pod))
	}
	inTimeouts(t, "slowest pod of 20 usually", slowest(usual), timeout)
	inTimeouts(t, "slowest pod of 20 with the frozen plugin", slowest(created), timeout)
	inTimeouts(t, "20 pods usually", allUsual, timeout)
	inTimeouts(t, "20 pods with the frozen plugin", all, timeout)
	inTimeouts(t, "slowest end of three pods", slowestEnd, timeout)
	require.NoError(t, frozen.Thaw())

	promise(t, "L22", "the slowest pod waits one timeout for a frozen plugin", keptOnStock, func(t require.TestingT) {
		assert.Less(t, slowest(created), timeout+2*slowest(usual))
	})
	promise(t, "L22", "all pods together wait one timeout for it", keptOnStock, func(t require.TestingT) {
		assert.Less(t, all, timeout+2*allUsual)
	})
	promise(t, "L9", "the end of a pod that it does not know does not wait for it", keptOnStock, func(t require.TestingT) {
		assert.Less(t, slowestEnd, timeout)
	})
	promise(t, "L14", "other plugins are told of all", keptOnStock, func(t require.TestingT) {
		for _, c := range created {
			assert.Equal(t, plugin.RunPodSandbox, other.Calls().Of(c.id).Events()[0])
		}
	})
	promise(t, "L2", "once it wakes up it is told of the pods that live", onStock(noPolicies), func(t require.TestingT) {
		requireSoon(t, "all that live", func(context.Context) error {
			for _, pod := range living {
				if err := hasAnsweredOf(frozen, pod, plugin.RunPodSandbox); err != nil {
					return err
				}
			}
			return nil
		})
		assert.Empty(t, frozen.Gone(), "it was dropped")
	})
	promise(t, "L3", "and of nothing that began and ended meanwhile", keptOnStock, func(t require.TestingT) {
		for _, pod := range ended {
			assert.Empty(t, frozen.Calls().Of(pod).Events())
		}
	})
	promise(t, "L4", "what it is told is one event at a time, to the end", onStock(noPolicies), func(t require.TestingT) {
		removeAllPods(ctx, t, n.CRI())
		requireWholeEnds(t, frozen)
		requireNothingLeft(t, n)
	})
}

// hasAnsweredOf tells whether a plugin has answered an event of a pod.
func hasAnsweredOf(p told, pod string, event plugin.Event) error {
	for _, call := range p.Calls().Of(pod).Only(event) {
		if !call.End.IsZero() {
			return nil
		}
	}
	return fmt.Errorf("%s has answered no %s of pod %s", p.Name(), event, pod)
}
