// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// A plugin registers while another one of its name serves: it takes over, and the other
// one is told so by closing.
func TestL19_PluginThatRegistersTakesOver(t *testing.T) {
	t.Parallel()
	n, ctx := startNode(t), withinAMinute(t)
	var all instances
	first := all.replica()
	connect(t, n, first)
	before, stopped := newLife(t, n, "before"), newLife(t, n, "stopped")
	require.NoError(t, n.CRI().StopPod(ctx, stopped.Pod))
	next := all.replica()
	connect(t, n, next)
	promise(t, "L19", "the first one is closed", onStock(firstStays), func(t require.TestingT) {
		requireClosedSoon(t, first)
	})
	after := newLife(t, n, "after")
	for _, l := range []life{before, after} {
		l.End(t)
	}
	require.NoError(t, n.CRI().RemovePod(ctx, stopped.Pod))
	promise(t, "L19", "each event is told to one of the two", onStock(bothTold), func(t require.TestingT) {
		all.requireOnce(t, before.Pod, stopped.Pod, after.Pod)
	})
	promise(t, "L19", "the successor is told of all that there is", keptOnStock, func(t require.TestingT) {
		listed := next.Calls().Only(plugin.Synchronize)[0]
		assert.Len(t, listed.Pods, 2)
		assert.Len(t, listed.Containers, 1)
	})
	promise(t, "L17", "a plugin that was replaced is counted as that", onStock("it counts no disconnects"), func(t require.TestingT) {
		requireSoon(t, "the metric", func(ctx context.Context) error {
			left, err := n.Metrics(ctx, "containerd_nri_plugin_disconnects_total")
			if err == nil && left[`{plugin="10-one",reason="replaced"}`] != 1 {
				err = fmt.Errorf("disconnects are %v", left)
			}
			return err
		})
	})
}

// A plugin that was replaced and registers again at once, as one does that is started
// again, takes nothing back before its successor leaves.
func TestL19_ReplacedPluginThatReturnsStandsBack(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	old := joinProcess(t, n, plugin.Script{Index: "10", Name: "one", Returns: true})
	successor := joinProcess(t, n, plugin.Script{Index: "10", Name: "one"})
	requireSoon(t, "the old one to have registered again", func(context.Context) error {
		if runsOnStock || len(old.Gone()) == 1 && len(readNRI(t, n).Plugins) == 2 {
			return nil
		}
		return fmt.Errorf("it went %d times, and there are %v", len(old.Gone()), readNRI(t, n).Plugins)
	})
	l := newLife(t, n, "pod")
	promise(t, "L19", "the successor serves, and the old one waits", onStock(bothTold), func(t require.TestingT) {
		requireSoon(t, "its record", func(context.Context) error { return hasAnsweredOf(successor, l.Pod, plugin.PostStartContainer) })
		assert.Equal(t, whole[:5], successor.Calls().Of(l.Pod).Events())
		assert.Empty(t, old.Calls().Of(l.Pod))
		shown := readNRI(t, n).Plugins
		require.Len(t, shown, 2)
		assert.Equal(t, []bool{false, true}, []bool{shown[0].TakesOver, shown[1].TakesOver})
	})
	require.NoError(t, successor.Kill())
	requireSoon(t, "the old one to be synchronized again", func(context.Context) error {
		if !runsOnStock && len(old.Calls().Only(plugin.Synchronize)) < 2 {
			return errors.New("it is not")
		}
		return nil
	})
	l.End(t)
	promise(t, "L19", "the old one serves when its successor is gone", keptOnStock, func(t require.TestingT) {
		requireSoon(t, "its record", func(context.Context) error { return hasAnsweredOf(old, l.Pod, plugin.RemovePodSandbox) })
		assert.ElementsMatch(t, teardown, old.Calls().Of(l.Pod).Only(teardown...).Events())
	})
}

// Two of a name on purpose, and two of a name with other indices, are both told.
func TestL19_TwinsAreBothTold(t *testing.T) {
	t.Parallel()
	n := startNode(t, operator(pluginSetting("twin", "twins = true")))
	plugins := []*plugin.Plugin{plugin.New("10", "twin"), plugin.New("10", "twin"), plugin.New("20", "one"), plugin.New("30", "one")}
	connect(t, n, plugins...)
	l := newLife(t, n, "pod")
	l.End(t)
	promise(t, "L19", "twins are both told of all", keptOnStock, func(t require.TestingT) {
		for _, p := range plugins {
			assert.ElementsMatch(t, whole, p.Calls().Of(l.Pod).Events(), p.Name())
		}
	})
}

// A first that hangs is cut at its timeout, and its successor goes on.
func TestL19_FirstThatHangsIsReplaced(t *testing.T) {
	t.Parallel()
	n, ctx := startNode(t), withinAMinute(t)
	var all instances
	first, hung := all.replica(), newGate(t)
	first.FailurePolicy(&api.FailurePolicy{KeepConnected: true})
	connect(t, n, first)
	l := newLife(t, n, "pod")
	first.On(plugin.StopContainer, hung.Hold)
	require.NoError(t, n.CRI().StopPod(ctx, l.Pod))
	next := all.replica()
	connect(t, n, next)
	promise(t, "L19", "the one that hangs is closed", keptOnStock, func(t require.TestingT) {
		requireClosedSoon(t, first)
		assert.Empty(t, first.Calls().Of(l.Pod).Only(plugin.StopPodSandbox))
	})
	promise(t, "L19", "what waited for it is told to its successor", onStock("it is told to nobody"), func(t require.TestingT) {
		requireSoon(t, "the stop", func(context.Context) error { return hasAnsweredOf(next, l.Pod, plugin.StopPodSandbox) })
	})
	require.NoError(t, n.CRI().RemovePod(ctx, l.Pod))
	promise(t, "L19", "and the removal", keptOnStock, func(t require.TestingT) {
		requireSoon(t, "the removal", func(context.Context) error { return hasAnsweredOf(next, l.Pod, plugin.RemovePodSandbox) })
		assert.NotEmpty(t, next.Calls().Of(l.Pod).Only(plugin.RemoveContainer))
	})
}

// A second that hangs in Synchronize changes nothing for the first, whether that
// serves or hangs; the next one takes over.
func TestL19_SecondThatHangsChangesNothing(t *testing.T) {
	t.Parallel()
	for name, firstHangs := range map[string]bool{"the first serves": false, "the first hangs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t)
			var all instances
			first := all.replica()
			first.FailurePolicy(&api.FailurePolicy{KeepConnected: true})
			connect(t, n, first)
			before := newLife(t, n, "before")
			if firstHangs {
				first.On(plugin.RunPodSandbox, newGate(t).Hold)
			}
			second, hangs := all.replica(), newGate(t)
			second.On(plugin.Synchronize, hangs.Hold)
			failed := make(chan error, 1)
			go func() { failed <- second.Connect(withinAMinute(t), n.NRISocket()) }()
			t.Cleanup(second.Crash)
			requireClosed(t, hangs.Entered(), "the second to be synchronized")
			began := time.Now()
			l := newLife(t, n, "pod")
			t.Logf("a pod took %s while the second hung", time.Since(began))
			require.Error(t, <-failed, "it is dropped")
			if !firstHangs {
				promise(t, "L19", "the first is told as ever", keptOnStock, func(t require.TestingT) {
					assert.Equal(t, whole[:5], first.Calls().Of(l.Pod).Events())
				})
			}
			third := all.replica()
			connect(t, n, third)
			requireReplaced(t, first)
			before.End(t)
			l.End(t)
			promise(t, "L19", "the third takes over", keptOnStock, func(t require.TestingT) {
				for _, l := range []life{before, l} {
					assert.ElementsMatch(t, teardown, third.Calls().Of(l.Pod).Only(teardown...).Events())
				}
			})
		})
	}
}

// The first is killed while its successor is synchronized, with a stop on its way.
func TestL19_FirstIsKilledAtTheTurn(t *testing.T) {
	t.Parallel()
	n, ctx := startNode(t), withinAMinute(t)
	var all instances
	first := all.replica()
	connect(t, n, first)
	l := newLife(t, n, "pod")
	next, hold := all.replica(), newGate(t)
	next.On(plugin.Synchronize, hold.Hold)
	joined := make(chan error, 1)
	go func() { joined <- next.Connect(withinAMinute(t), n.NRISocket()) }()
	t.Cleanup(next.Crash)
	requireClosed(t, hold.Entered(), "the second to be synchronized")
	stopped := make(chan error, 1)
	go func() { stopped <- n.CRI().StopPod(ctx, l.Pod) }()
	first.Crash()
	hold.Release()
	require.NoError(t, <-joined)
	require.NoError(t, <-stopped)
	require.NoError(t, n.CRI().RemovePod(ctx, l.Pod))
	promise(t, "L19", "the ends are told, whoever was there", sometimesOnStock("the stop is told to nobody"), func(t require.TestingT) {
		requireSoon(t, "the removal", func(context.Context) error { return hasAnsweredOf(next, l.Pod, plugin.RemovePodSandbox) })
		for _, end := range teardown {
			assert.NotEmpty(t, all.of(l.Pod).Only(end), end)
			assert.LessOrEqual(t, len(next.Calls().Of(l.Pod).Only(end)), 1, end)
		}
	})
}
