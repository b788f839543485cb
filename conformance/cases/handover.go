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

// A plugin registers while another one of its name serves: it takes over, and the other
// one is told so by closing.
var _ = Ends.has("L19_PluginThatRegistersTakesOver", Needs{}, func(t T) {
	n, ctx := t.Runtime(), WithinAMinute(t)
	var all Instances
	first := all.Replica(t)
	Connect(t, n, first)
	before, stopped := NewLife(t, n, "before"), NewLife(t, n, "stopped")
	require.NoError(t, n.CRI().StopPod(ctx, stopped.Pod))
	next := all.Replica(t)
	Connect(t, n, next)
	t.Promise("L19", "the first one is closed", OnStock(FirstStays), func(t require.TestingT) {
		RequireClosedSoon(t, first)
	})
	after := NewLife(t, n, "after")
	for _, l := range []Life{before, after} {
		l.End(t)
	}
	require.NoError(t, n.CRI().RemovePod(ctx, stopped.Pod))
	t.Promise("L19", "each event is told to one of the two", OnStock(BothReceive), func(t require.TestingT) {
		all.RequireOnce(t, before.Pod, stopped.Pod, after.Pod)
	})
	t.Promise("L19", "the successor is told of all that there is", KeptOnStock, func(t require.TestingT) {
		listed := next.Calls().Only(plugin.Synchronize)[0]
		assert.Len(t, listed.Pods, 2)
		assert.Len(t, listed.Containers, 1)
	})
})

// A plugin that was replaced and registers again at once, as one does that is started
// again, takes nothing back before its successor leaves.
var _ = Ends.has("L19_ReplacedPluginThatReturnsStandsBack", Needs{}, func(t T) {
	n := t.Runtime()
	old := JoinProcess(t, n, plugin.Script{Index: "10", Name: "one", Returns: true})
	successor := JoinProcess(t, n, plugin.Script{Index: "10", Name: "one"})
	t.Promise("L19", "the old one is closed", OnStock(FirstStays), func(t require.TestingT) {
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
	_ = wait.Until(WithinMoments(t), "it to be synchronized again", func(context.Context) error {
		if len(old.Calls().Only(plugin.Synchronize)) < 2 {
			return errors.New("it is not")
		}
		return nil
	}) // where it never went, it serves already
	l.End(t)
	t.Promise("L19", "the old one serves when its successor is gone", KeptOnStock, func(t require.TestingT) {
		RequireSoon(t, "its record", func(context.Context) error { return HasAnsweredOf(old, l.Pod, plugin.RemovePodSandbox) })
		assert.ElementsMatch(t, EveryEnd, old.Calls().Of(l.Pod).Only(EveryEnd...).Events())
	})
})

// A first that hangs is cut at its timeout, and its successor goes on.
var _ = Ends.has("L19_FirstThatHangsIsReplaced", Within(2*time.Second), func(t T) {
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
	t.Promise("L19", "the one that hangs is closed", KeptOnStock, func(t require.TestingT) {
		RequireClosedSoon(t, first)
		assert.Empty(t, first.Calls().Of(l.Pod).Only(plugin.StopPodSandbox))
	})
	t.Promise("L19", "what waited for it is told to its successor", OnStock("it is told to nobody"), func(t require.TestingT) {
		RequireSoon(t, "the stop", func(context.Context) error { return HasAnsweredOf(next, l.Pod, plugin.StopPodSandbox) })
	})
	require.NoError(t, n.CRI().RemovePod(ctx, l.Pod))
	t.Promise("L19", "and the removal", KeptOnStock, func(t require.TestingT) {
		RequireSoon(t, "the removal", func(context.Context) error { return HasAnsweredOf(next, l.Pod, plugin.RemovePodSandbox) })
		assert.NotEmpty(t, next.Calls().Of(l.Pod).Only(plugin.RemoveContainer))
	})
})

// A second that hangs in Synchronize changes nothing for the first, whether that
// serves or hangs; the next one takes over.
var _ = Ends.has("L19_SecondThatHangsChangesNothing", Within(2*time.Second), func(t T) {
	for name, firstHangs := range map[string]bool{"the first serves": false, "the first hangs": true} {
		stays := OnStock(FirstStays)
		if firstHangs {
			stays = KeptOnStock // for another reason: whoever hangs is dropped
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
				t.Promise("L19", "the first is told as ever", KeptOnStock, func(t require.TestingT) {
					assert.Equal(t, Whole[:5], first.Calls().Of(l.Pod).Events())
				})
			}
			third := all.Replica(t)
			Connect(t, n, third)
			t.Promise("L19", "the first is closed when the third has come", stays, func(t require.TestingT) { RequireClosedSoon(t, first) })
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

// The first is killed while its successor is synchronized, with a stop on its way.
var _ = Ends.has("L19_FirstIsKilledAtTheTurn", Holding, func(t T) {
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
	t.Promise("L19", "the ends are told, whoever was there", SometimesOnStock("the stop is told to nobody"), func(t require.TestingT) {
		RequireSoon(t, "the removal", func(context.Context) error { return HasAnsweredOf(next, l.Pod, plugin.RemovePodSandbox) })
		for _, end := range EveryEnd {
			assert.NotEmpty(t, all.Of(l.Pod).Only(end), end)
			assert.LessOrEqual(t, len(next.Calls().Of(l.Pod).Only(end)), 1, end)
		}
	})
})

// Two plugins are rolled out at once while a container is created: the second of them holds it, and
// the first has agreed.
var _ = Ends.has("L19_PluginsAreReplacedTogetherInTheMidstOfACreation", Holding, func(t T) {
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
	t.Promise("L13", "a successor can join in the midst of it, and both can join", OnStock(CannotJoin), func(t require.TestingT) {
		require.NoError(t, errMidst)
		require.NoError(t, errJoined)
	})
	t.Promise("L19", "each event is told to one of the two instances of each", SometimesOnStock(BothReceive), func(t require.TestingT) {
		agreed.RequireOnce(t, container.Pod)
		asked.RequireOnce(t, container.Pod)
	})
	t.Promise("L2", "the successors are told of the container", OnStock(CannotJoin), func(t require.TestingT) {
		for _, p := range []*plugin.Plugin{newAgreed, newAsked} {
			RequireKnows(t, p, container.ID)
		}
	})
})
