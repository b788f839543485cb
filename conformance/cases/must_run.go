// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The plugin is disconnected. Pods and containers that require it wait for it, and are then
// rejected; those of another namespace start.
var _ = MustRun.has("L20_NothingStartsWithoutADisconnectedRequiredPlugin", Needs{Required: true}, func(t T) {
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

	began := time.Now()
	_, errPod := c.RunPod(ctx, PodThatRequires(n, "rejected"))
	podTook := time.Since(began)
	began = time.Now()
	_, errContainer := c.Create(ctx, came, before, c.Container("rejected"))
	containerTook := time.Since(began)
	t.Promise("L20", "a pod is rejected with the name of the plugin", OnStock(NotRequired), func(t require.TestingT) { RequireWanting(t, errPod) })
	t.Promise("L20", "a container is rejected with the name of the plugin", OnStock(NotRequired), func(t require.TestingT) { RequireWanting(t, errContainer) })
	t.Words("L20", "the errors name the pod or container, and since when the plugin is disconnected", OnStock(NotRequired), func(t require.TestingT) {
		RequireReadable(t, errPod, codes.Unavailable, "pod conformance-must-run/rejected", "is disconnected since")
		RequireReadable(t, errContainer, codes.Unavailable, "container rejected of pod conformance-must-run/before", "is disconnected since")
	})
	t.Words("L20", "each has waited for the time that is set", OnStock(NotRequired), func(t require.TestingT) {
		for _, took := range []time.Duration{podTook, containerTook} {
			assert.GreaterOrEqual(t, took, RequiredWait)
			assert.Less(t, took, 2*RequiredWait)
		}
	})
	t.Promise("L20", "no plugin received either", OnStock(NotRequired), func(t require.TestingT) {
		assert.Empty(t, other.Calls().Named("rejected").Events())
		assert.Empty(t, other.Calls().Only(plugin.CreateContainer).Events())
	})
	t.Promise("L20", "a pod that does not require it starts, and so does its container", KeptOnStock, func(t require.TestingT) {
		RequireLife(ctx, t, n, c.Pod("free"))
	})
	t.Promise("L8", "the ends do not wait for the plugin", KeptOnStock, func(t require.TestingT) {
		began := time.Now()
		RemoveAllPods(ctx, t, c)
		assert.Less(t, time.Since(began), RequiredWait)
		RequireNothingLeft(t, n)
	})
})

// A pod waits for the plugin, which connects later.
var _ = MustRun.has("L20_PodStartsOnceALateRequiredPluginApproves", Needs{Required: true}, func(t T) {
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
	t.Promise("L20", "a pod that waits for the plugin starts with its approval", SometimesOnStock(NotRequired), func(t require.TestingT) {
		require.NoError(t, pod.err)
		RequireSoon(t, "its approval", func(context.Context) error { return HasAnsweredOf(must, pod.id, plugin.RunPodSandbox) })
	})
	require.NoError(t, n.CRI().RemovePod(ctx, pod.id))
	RequireNothingLeft(t, n)
})

// unanswered is a way in which a connected required plugin does not answer.
type unanswered struct {
	answer plugin.Answer
	policy *api.FailurePolicy
	killed bool
	words  string // of hookline's error
}

// A connected plugin that does not answer counts as missing, though its own policy is to go on.
var _ = MustRun.has("L20_PodIsRejectedIfARequiredPluginDoesNotAnswer", Within(2*time.Second).AndRequired(), func(t T) {
	for name, s := range map[string]unanswered{
		"it freezes in the hook":          {answer: plugin.Answer{Freeze: true}, words: "no answer within 2s"},
		"it freezes, and stays connected": {answer: plugin.Answer{Freeze: true}, policy: &api.FailurePolicy{KeepConnected: true}, words: "no answer within 2s"},
		"it is killed in the hook":        {answer: plugin.Answer{Work: time.Minute}, killed: true, words: "did not answer"},
	} {
		for of, object := range map[plugin.Event]string{plugin.RunPodSandbox: "pod", plugin.CreateContainer: "container"} {
			t.Run(name+", "+object, func(t T) { rejectedIfUnanswered(t, s, of, object) })
		}
	}
})

// rejectedIfUnanswered asserts what follows if a plugin does not answer for a pod or container.
func rejectedIfUnanswered(t T, s unanswered, of plugin.Event, object string) {
	n := t.Runtime()
	timeout, _ := n.Timeouts()
	ctx, c := WithinAMinute(t), n.CRI()
	after := NewPlugin(t, "30", "after")
	Connect(t, n, after)
	must := JoinProcess(t, n, plugin.Script{Index: "20", Name: RequiredPlugin, Policy: s.policy, Answers: map[plugin.Event]plugin.Answer{of: s.answer}})
	config := PodThatRequires(n, "unanswered")
	create := func() error { _, err := c.RunPod(ctx, config); return err }
	if of == plugin.CreateContainer {
		pod, err := c.RunPod(ctx, config)
		require.NoError(t, err)
		create = func() error { _, err := c.Create(ctx, pod, config, c.Container("main")); return err }
	}
	ran := InBackground(create)
	RequireSoon(t, "the hook", func(context.Context) error { return HasGot(must, of) })
	asked := time.Now()
	if s.killed {
		require.NoError(t, must.Kill())
	}
	err, took := <-ran, time.Since(asked)
	InTimeouts(t, "the "+object+" fails", took, timeout)
	t.Promise("L20", "the "+object+" fails with the plugin's name", OnStock(NotRequired), func(t require.TestingT) { RequireWanting(t, err) })
	t.Words("L20", "the error says how the plugin failed", OnStock(NotRequired), func(t require.TestingT) { assert.ErrorContains(t, err, s.words) })
	t.Promise("L22", "it fails after one timeout, or at once if the plugin is killed", KeptOnStock, func(t require.TestingT) {
		if s.killed {
			assert.Less(t, took, timeout)
		}
		assert.Less(t, took, 2*timeout)
	})
	received := after.Calls().Named("unanswered")
	if of == plugin.CreateContainer {
		received = received.Only(of) // it knows the pod
	}
	t.Promise("L20", "no later plugin receives the "+object, OnStock(NotRequired), func(t require.TestingT) { assert.Empty(t, received.Events()) })
	if s.policy.GetKeepConnected() {
		nextFailsAtOnce(t, n, of, after)
	}
	require.NoError(t, must.Kill())
	t.Promise("L7", "nothing is left", RollBackRaces, func(t require.TestingT) {
		RemoveAllPods(ctx, t, c)
		RequireNothingLeft(t, n)
	})
}

// nextFailsAtOnce creates a pod that requires a plugin that is overdue with the pod before.
func nextFailsAtOnce(t T, n Runtime, of plugin.Event, after *plugin.Plugin) {
	timeout, _ := n.Timeouts()
	began := time.Now()
	_, err := n.CRI().RunPod(WithinAMinute(t), PodThatRequires(n, "next"))
	took := time.Since(began)
	t.Promise("L22", "the next pod fails at once", OnStock(NoPolicies), func(t require.TestingT) {
		RequireWanting(t, err)
		assert.Less(t, took, timeout)
		assert.Empty(t, after.Calls().Named("next").Events())
	})
	t.Words("L22", "the error names the event that the plugin has not answered", OnStock(NoPolicies), func(t require.TestingT) {
		assert.ErrorContains(t, err, "has not answered "+string(of))
	})
}
