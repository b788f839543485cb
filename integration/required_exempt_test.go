// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// What a pod or a container of an exempt namespace meets is what it would meet of any
// plugin: one that hangs costs it one timeout, one that is killed nothing. Those of another
// namespace are refused at the same time.
func TestL20_ExemptNamespacesDoWithoutAPluginThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	const timeout = 4 * time.Second
	for name, tc := range map[string]struct {
		answer plugin.Answer
		policy *api.FailurePolicy
		killed bool
		atMost time.Duration
		words  string // of what is refused to others
	}{
		"it hangs in the hook":     {answer: plugin.Answer{Freeze: true}, atMost: 2 * timeout, words: "is away since"},
		"it hangs, and stays":      {answer: plugin.Answer{Freeze: true}, policy: &api.FailurePolicy{KeepConnected: true}, atMost: 2 * timeout, words: "has owed an answer"},
		"it is killed in the hook": {answer: plugin.Answer{Work: time.Minute}, killed: true, atMost: timeout, words: "is away since"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, withNeeds(fixture.Needs{Timeouts: fixture.Timeouts{Request: timeout}}), operator(pluginSetting("must", "required_for = ['pods', 'containers']\nexempt_namespaces = ['exempt']\nwait = '300ms'")))
			for _, of := range []plugin.Event{plugin.RunPodSandbox, plugin.CreateContainer} {
				ctx, c := withinAMinute(t), n.CRI()
				must := joinProcess(t, n, plugin.Script{Index: "20", Name: "must", Policy: tc.policy, Answers: map[plugin.Event]plugin.Answer{of: tc.answer}})
				create := func(namespace, name string) func() error {
					pod := podIn(n, namespace, name, nil)
					if of == plugin.RunPodSandbox {
						return func() error { _, err := c.RunPod(ctx, pod); return err }
					}
					id, err := c.RunPod(ctx, pod)
					require.NoError(t, err)
					return func() error { _, err := c.Create(ctx, id, pod, c.Container("main")); return err }
				}
				exempt, next, other := create("exempt", "first"), create("exempt", "next"), create("default", "other")

				ran := inBackground(exempt)
				requireSoon(t, "the hook", func(context.Context) error { return hasGot(must, of) })
				start := time.Now()
				if tc.killed {
					require.NoError(t, must.Kill())
				}
				err := <-ran
				took := time.Since(start)
				inTimeouts(t, string(of)+" of the exempt namespace", took, timeout)
				promise(t, "L20", string(of)+" of an exempt namespace goes on without it", keptOnStock, func(t require.TestingT) {
					require.NoError(t, err)
					assert.Less(t, took, tc.atMost)
				})
				start = time.Now()
				err = next()
				took = time.Since(start)
				inTimeouts(t, "the next one", took, timeout)
				promise(t, "L22", "the next one waits for nothing, "+string(of), keptOnStock, func(t require.TestingT) {
					require.NoError(t, err)
					assert.Less(t, took, timeout)
				})
				err = other()
				t.Logf("of another namespace: %v", err)
				promise(t, "L20", "one of another namespace is refused at the same time, "+string(of), onStock(fixture.NotRequired), func(t require.TestingT) {
					requireUnavailable(t, err, tc.words)
				})
				require.NoError(t, must.Kill())
				promise(t, "L8", "all ends without it, "+string(of), keptOnStock, func(t require.TestingT) {
					removeAllPods(ctx, t, c)
					requireNothingLeft(t, n)
				})
			}
		})
	}
}

// The plugin is killed while pods and containers stand in line for it. Those of an exempt
// namespace come up in that moment, the others with the answer of the next one.
func TestL20_ExemptNamespacesDoNotWaitForAPluginThatIsKilled(t *testing.T) {
	t.Parallel()
	const pods = 3 // of each: required, exempt, and containers of an exempt one
	n := startNode(t, withNeeds(fixture.Patient), operator(pluginSetting("must", "required_for = ['pods', 'containers']\nexempt_namespaces = ['exempt']\nwait = '40s'")))
	ctx, c := withinAMinute(t), n.CRI()
	host := podIn(n, "exempt", "host", nil)
	hostID, err := c.RunPod(ctx, host) // while it is away
	require.NoError(t, err)
	first := joinProcess(t, n, plugin.Script{Index: "20", Name: "must", Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: {Work: time.Minute}}})
	holds := inBackground(func() error { _, err := c.RunPod(ctx, podIn(n, "default", "first", nil)); return err })
	requireSoon(t, "the hook", func(context.Context) error { return hasGot(first, plugin.RunPodSandbox) })

	required := make(chan []creationOf, 1)
	go func() { required <- runPods(ctx, n, pods, time.Minute, podsNamed(n, "waits", pods)...) }()
	var exempt []<-chan error
	for i := range pods {
		name := string(rune('a' + i))
		exempt = append(exempt,
			inBackground(func() error { _, err := c.RunPod(ctx, podIn(n, "exempt", name, nil)); return err }),
			inBackground(func() error { _, err := c.Create(ctx, hostID, host, c.Container(name)); return err }))
	}
	if !runsOnStock { // where they wait in line for a lock
		requireWaiting(t, n, first, 3*pods)
	}
	killed := time.Now()
	require.NoError(t, first.Kill())
	var failed []error
	for _, e := range exempt {
		if err := <-e; err != nil {
			failed = append(failed, err)
		}
	}
	t.Logf("all of the exempt namespace are there %s after the kill", time.Since(killed).Round(time.Millisecond))
	promise(t, "L20", "pods and containers of an exempt namespace come up without it", keptOnStock, func(t require.TestingT) { require.Empty(t, failed) })
	if !runsOnStock {
		requireSoon(t, "pods that wait on", func(context.Context) error { return waitFor(t, n, "must", pods) })
	}
	next := joinProcess(t, n, plugin.Script{Index: "20", Name: "must"})
	created := <-required
	promise(t, "L20", "the others have the word of the next", onStock(fixture.NotRequired), func(t require.TestingT) {
		requireAllCreated(t, created)
		for _, pod := range created {
			requireWord(t, pod.ID, next)
		}
	})
	err = <-holds
	promise(t, "L20", "the one that it was at has failed", onStock(fixture.NotRequired), func(t require.TestingT) {
		requireUnavailable(t, err, "did not answer")
	})
	removeAllPods(ctx, t, c)
	requireNothingLeft(t, n)
}
