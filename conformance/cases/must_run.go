// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The plugin is away. Pods and containers that require it are refused when they have waited
// for it; those of another namespace come up.
var _ = MustRun.has("L20_NothingComesUpWithoutARequiredPluginThatIsAway", Needs{Required: true}, func(t T) {
	n := t.Runtime()
	ctx, c := WithinAMinute(t), n.CRI()
	must := JoinProcess(t, n, plugin.Script{Index: "20", Name: RequiredPlugin})
	before := PodThatRequires(n, "before")
	came, err := c.RunPod(ctx, before)
	require.NoError(t, err)
	require.NoError(t, must.Kill())
	AwaitShown(t, n, must.Name(), 0)
	other := NewPlugin(t, "10", "other")
	Connect(t, n, other)

	_, errPod := c.RunPod(ctx, PodThatRequires(n, "refused"))
	_, errContainer := c.Create(ctx, came, before, c.Container("refused"))
	t.Promise("L20", "a pod is refused with the name of the plugin", OnStock(NotRequired), func(t require.TestingT) { RequireWanting(t, errPod) })
	t.Promise("L20", "a container is refused with the name of the plugin", OnStock(NotRequired), func(t require.TestingT) { RequireWanting(t, errContainer) })
	t.Promise("L20", "nobody was told of either", OnStock(NotRequired), func(t require.TestingT) {
		assert.Empty(t, other.Calls().Named("refused").Events())
		assert.Empty(t, other.Calls().Only(plugin.CreateContainer).Events())
	})
	t.Promise("L20", "what does not require it comes up", KeptOnStock, func(t require.TestingT) {
		RequirePodRunsAgain(t, n, c.Pod("free"))
	})
	t.Promise("L8", "all ends without it", KeptOnStock, func(t require.TestingT) {
		RemoveAllPods(ctx, t, c)
		RequireNothingLeft(t, n)
	})
})

// A pod waits for the plugin, which comes.
var _ = MustRun.has("L20_PodComesUpWithTheWordOfARequiredPluginThatComesLate", Needs{Required: true}, func(t T) {
	n := t.Runtime()
	ctx := WithinAMinute(t)
	type created struct {
		id  string
		err error
	}
	ran := make(chan created, 1)
	go func() {
		id, err := n.CRI().RunPod(ctx, PodThatRequires(n, "waits"))
		ran <- created{id, err}
	}()
	must := JoinProcess(t, n, plugin.Script{Index: "20", Name: RequiredPlugin})
	pod := <-ran
	t.Promise("L20", "a pod that waits for the plugin comes up with its word", SometimesOnStock(NotRequired), func(t require.TestingT) {
		require.NoError(t, pod.err)
		RequireSoon(t, "its word", func(context.Context) error { return HasAnsweredOf(must, pod.id, plugin.RunPodSandbox) })
	})
	require.NoError(t, n.CRI().RemovePod(ctx, pod.id))
	RequireNothingLeft(t, n)
})

// A plugin that is there and does not answer is as good as none.
var _ = MustRun.has("L20_PodIsRefusedIfARequiredPluginDoesNotAnswer", Within(2*time.Second).AndRequired(), func(t T) {
	for name, s := range map[string]struct {
		answer plugin.Answer
		killed bool
	}{
		"it freezes in the hook":   {answer: plugin.Answer{Freeze: true}},
		"it is killed in the hook": {answer: plugin.Answer{Work: time.Minute}, killed: true},
	} {
		t.Run(name, func(t T) {
			n := t.Runtime()
			timeout, _ := n.Timeouts()
			ctx := WithinAMinute(t)
			after := NewPlugin(t, "30", "after")
			Connect(t, n, after)
			must := JoinProcess(t, n, plugin.Script{Index: "20", Name: RequiredPlugin, Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: s.answer}})
			began := time.Now()
			ran := InBackground(func() error { _, err := n.CRI().RunPod(ctx, PodThatRequires(n, "unanswered")); return err })
			RequireSoon(t, "the hook", func(context.Context) error { return HasGot(must, plugin.RunPodSandbox) })
			if s.killed {
				require.NoError(t, must.Kill())
			}
			err, took := <-ran, time.Since(began)
			InTimeouts(t, "the pod fails", took, timeout)
			t.Promise("L20", "the pod fails with the plugin's name", OnStock(NotRequired), func(t require.TestingT) { RequireWanting(t, err) })
			t.Promise("L20", "nobody after it is told of the pod", OnStock(NotRequired), func(t require.TestingT) {
				assert.Empty(t, after.Calls().Named("unanswered").Events())
			})
			require.NoError(t, must.Kill())
			t.Promise("L7", "nothing is left", RollBackRaces, func(t require.TestingT) {
				RemoveAllPods(ctx, t, n.CRI())
				RequireNothingLeft(t, n)
			})
		})
	}
})
