// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// A plugin registers while another one of its name is connected: it takes over, and the
// runtime closes the connection of the other one.
var _ = Ends.has("L19_SuccessorTakesOver", Needs{}, func(t T) {
	n, ctx := t.Runtime(), WithinAMinute(t)
	var all Instances
	first := all.Replica(t)
	Connect(t, n, first)
	before, stopped := NewLife(t, n, "before"), NewLife(t, n, "stopped")
	require.NoError(t, n.CRI().StopPod(ctx, stopped.Pod))
	next := all.Replica(t)
	Connect(t, n, next)
	t.Promise("L19", "the connection of the first is closed", OnStock(FirstStays), func(t require.TestingT) {
		RequireClosedSoon(t, first)
	})
	after := NewLife(t, n, "after")
	for _, l := range []Life{before, after} {
		l.End(t)
	}
	require.NoError(t, n.CRI().RemovePod(ctx, stopped.Pod))
	t.Promise("L19", "each event reaches one of the two", OnStock(BothReceive), func(t require.TestingT) {
		all.RequireOnce(t, before.Pod, stopped.Pod, after.Pod)
	})
	t.Promise("L19", "the successor receives all pods and containers that exist", KeptOnStock, func(t require.TestingT) {
		listed := next.Calls().Only(plugin.Synchronize)[0]
		assert.Len(t, listed.Pods, 2)
		assert.Len(t, listed.Containers, 1)
	})
})

// A replaced plugin registers again at once, as it does when its process restarts. It
// takes nothing back while its successor is connected.
var _ = Ends.has("L19_ReplacedPluginThatReturnsWaits", Needs{}, func(t T) {
	n := t.Runtime()
	old := JoinProcess(t, n, plugin.Script{Index: "10", Name: "one", Returns: true})
	successor := JoinProcess(t, n, plugin.Script{Index: "10", Name: "one"})
	t.Promise("L19", "the connection of the old one is closed", OnStock(FirstStays), func(t require.TestingT) {
		RequireSoon(t, "the end of its connection", func(context.Context) error {
			if len(old.Gone()) == 0 {
				return errors.New("it is open")
			}
			return nil
		})
	})
	AwaitShown(t, n, old.Name(), 2) // it has registered again
	l := NewLife(t, n, "pod")
	t.Promise("L19", "the successor serves, and the old one waits", OnStock(BothReceive), func(t require.TestingT) {
		RequireSoon(t, "its record", func(context.Context) error { return HasAnsweredOf(successor, l.Pod, plugin.PostStartContainer) })
		assert.Equal(t, Whole[:5], successor.Calls().Of(l.Pod).Events())
		assert.Empty(t, old.Calls().Of(l.Pod))
	})
	require.NoError(t, successor.Kill())
	_ = wait.Until(WithinMoments(t), "the old one to be synchronized again", func(context.Context) error {
		if len(old.Calls().Only(plugin.Synchronize)) < 2 {
			return errors.New("it is not synchronized")
		}
		return nil
	}) // where it was never replaced, it serves already
	l.End(t)
	t.Promise("L19", "the old one serves when its successor is gone", KeptOnStock, func(t require.TestingT) {
		RequireSoon(t, "its record", func(context.Context) error { return HasAnsweredOf(old, l.Pod, plugin.RemovePodSandbox) })
		assert.ElementsMatch(t, EveryEnd, old.Calls().Of(l.Pod).Only(EveryEnd...).Events())
	})
})

// The first hangs until its timeout. Its successor goes on.
var _ = Ends.has("L19_HangingPluginIsReplaced", Within(2*time.Second), func(t T) {
	n, ctx := t.Runtime(), WithinAMinute(t)
	var all Instances
	first, hung := all.Replica(t), NewGate(t)
	first.FailurePolicy(&api.FailurePolicy{KeepConnected: true})
	Connect(t, n, first)
	l := NewLife(t, n, "pod")
	first.On(plugin.StopContainer, hung.Hold)
	require.NoError(t, n.CRI().StopPod(ctx, l.Pod))
	next := all.Replica(t)
	Connect(t, n, next)
	t.Promise("L19", "the connection of the plugin that hangs is closed", KeptOnStock, func(t require.TestingT) {
		RequireClosedSoon(t, first)
		assert.Empty(t, first.Calls().Of(l.Pod).Only(plugin.StopPodSandbox))
	})
	t.Promise("L19", "its successor receives the event that waited for it", OnStock("no plugin receives it"), func(t require.TestingT) {
		RequireSoon(t, "the stop", func(context.Context) error { return HasAnsweredOf(next, l.Pod, plugin.StopPodSandbox) })
	})
	require.NoError(t, n.CRI().RemovePod(ctx, l.Pod))
	t.Promise("L19", "its successor receives the removal", KeptOnStock, func(t require.TestingT) {
		RequireSoon(t, "the removal", func(context.Context) error { return HasAnsweredOf(next, l.Pod, plugin.RemovePodSandbox) })
		assert.NotEmpty(t, next.Calls().Of(l.Pod).Only(plugin.RemoveContainer))
	})
})

// A successor that hangs in Synchronize changes nothing for the first, whether the first
// serves or hangs. The next successor takes over.
var _ = Ends.has("L19_HangingSuccessorChangesNothing", Within(2*time.Second), func(t T) {
	for name, firstHangs := range map[string]bool{"the first serves": false, "the first hangs": true} {
		stays := OnStock(FirstStays)
		if firstHangs {
			stays = KeptOnStock // for another reason: stock drops a plugin that hangs
		}
		t.Run(name, func(t T) {
			n := t.Runtime()
			var all Instances
			first := all.Replica(t)
			first.FailurePolicy(&api.FailurePolicy{KeepConnected: true})
			Connect(t, n, first)
			before := NewLife(t, n, "before")
			if firstHangs {
				first.On(plugin.RunPodSandbox, NewGate(t).Hold)
			}
			second, hangs := all.Replica(t), NewGate(t)
			second.On(plugin.Synchronize, hangs.Hold)
			failed := ConnectInBackground(WithinAMinute(t), t, n, second)
			RequireClosed(t, hangs.Entered(), "the second to be synchronized")
			l := NewLife(t, n, "pod")
			require.Error(t, <-failed, "it is dropped")
			if !firstHangs {
				t.Promise("L19", "the first receives all events", KeptOnStock, func(t require.TestingT) {
					assert.Equal(t, Whole[:5], first.Calls().Of(l.Pod).Events())
				})
			}
			third := all.Replica(t)
			Connect(t, n, third)
			t.Promise("L19", "the connection of the first is closed when the third takes over", stays, func(t require.TestingT) { RequireClosedSoon(t, first) })
			first.Crash()
			before.End(t)
			l.End(t)
			t.Promise("L19", "the third takes over", KeptOnStock, func(t require.TestingT) {
				for _, l := range []Life{before, l} {
					assert.ElementsMatch(t, EveryEnd, third.Calls().Of(l.Pod).Only(EveryEnd...).Events())
				}
			})
		})
	}
})

// The first is killed while its successor is synchronized and a stop waits.
var _ = Ends.has("L19_FirstIsKilledDuringTheHandover", Holding, func(t T) {
	n, ctx := t.Runtime(), WithinAMinute(t)
	var all Instances
	first := all.Replica(t)
	Connect(t, n, first)
	l := NewLife(t, n, "pod")
	next, hold := all.Replica(t), NewGate(t)
	next.On(plugin.Synchronize, hold.Hold)
	joined := ConnectInBackground(WithinAMinute(t), t, n, next)
	RequireClosed(t, hold.Entered(), "the second to be synchronized")
	stopped := InBackground(func() error { return n.CRI().StopPod(ctx, l.Pod) })
	first.Crash()
	hold.Release()
	require.NoError(t, <-joined)
	require.NoError(t, <-stopped)
	require.NoError(t, n.CRI().RemovePod(ctx, l.Pod))
	t.Promise("L19", "each end reaches one of the two", SometimesOnStock("no plugin receives the stop"), func(t require.TestingT) {
		RequireSoon(t, "the removal", func(context.Context) error { return HasAnsweredOf(next, l.Pod, plugin.RemovePodSandbox) })
		for _, end := range EveryEnd {
			assert.NotEmpty(t, all.Of(l.Pod).Only(end), end)
			assert.LessOrEqual(t, len(next.Calls().Of(l.Pod).Only(end)), 1, end)
		}
	})
})

// Two plugins are rolled out at once while a container is created: the first has approved the
// container, and the second holds it.
var _ = Ends.has("L19_PluginsAreReplacedTogetherDuringACreation", Holding, func(t T) {
	n, ctx := t.Runtime(), WithinAMinute(t)
	var agreed, asked Instances
	oldAgreed, oldAsked := agreed.Replica(t), asked.ReplicaOf(t, "20", "two")
	Connect(t, n, oldAgreed, oldAsked)
	container := NewInCreation(t, n, oldAsked, "pod")
	newAgreed, newAsked := agreed.Replica(t), asked.ReplicaOf(t, "20", "two")
	joined := []<-chan error{ConnectInBackground(ctx, t, n, newAgreed), ConnectInBackground(ctx, t, n, newAsked)}
	errMidst := wait.Until(WithinMoments(t), "a successor to be synchronized", func(context.Context) error { return HasAnswered(newAgreed, plugin.Synchronize) })
	container.Gate.Release()
	require.NoError(t, <-container.Created)
	errJoined := errors.Join(<-joined[0], <-joined[1])
	require.NoError(t, n.CRI().Start(ctx, container.ID))
	Life{N: n, Pod: container.Pod, Container: container.ID}.End(t)
	t.Promise("L13", "both successors can join, one of them during the creation", OnStock(CannotJoin), func(t require.TestingT) {
		require.NoError(t, errMidst)
		require.NoError(t, errJoined)
	})
	t.Promise("L19", "each event reaches one of the two instances of each plugin", SometimesOnStock(BothReceive), func(t require.TestingT) {
		agreed.RequireOnce(t, container.Pod)
		asked.RequireOnce(t, container.Pod)
	})
	t.Promise("L2", "the successors receive the container", OnStock(CannotJoin), func(t require.TestingT) {
		for _, p := range []*plugin.Plugin{newAgreed, newAsked} {
			RequireKnows(t, p, container.ID)
		}
	})
})
