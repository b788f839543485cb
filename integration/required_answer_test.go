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

// The plugin is there and does not answer, and its own policy is to go on.
func TestL20_NoAnswerOfARequiredPluginIsNoWord(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second
	for name, tc := range map[string]struct {
		answer plugin.Answer
		policy *api.FailurePolicy
		killed bool
		words  string
		atMost time.Duration
	}{
		"it hangs in the hook":     {answer: plugin.Answer{Freeze: true}, words: "no answer within 2s", atMost: 2 * timeout},
		"it hangs, and stays":      {answer: plugin.Answer{Freeze: true}, policy: &api.FailurePolicy{KeepConnected: true}, words: "no answer within 2s", atMost: 2 * timeout},
		"it is killed in the hook": {answer: plugin.Answer{Work: time.Minute}, killed: true, words: "did not answer", atMost: timeout},
	} {
		t.Run(name, func(t *testing.T) {
			n := startNode(t, withNeeds(fixture.Needs{Timeouts: fixture.Timeouts{Request: timeout}}), operator(pluginSetting("must", "required_for = ['pods', 'containers']\nwait = '1s'")))
			after := plugin.New("30", "after")
			connect(t, n, after)
			for _, of := range []plugin.Event{plugin.RunPodSandbox, plugin.CreateContainer} {
				ctx, c := withinAMinute(t), n.CRI()
				must := joinProcess(t, n, plugin.Script{Index: "20", Name: "must", Policy: tc.policy, Answers: map[plugin.Event]plugin.Answer{of: tc.answer}})
				pod := n.CRI().Pod("pod" + string(of))
				id := ""
				if of == plugin.CreateContainer {
					var err error
					id, err = c.RunPod(ctx, pod)
					require.NoError(t, err)
				}
				ran := make(chan error, 1)
				go func() {
					var err error
					if of == plugin.RunPodSandbox {
						_, err = c.RunPod(ctx, pod)
					} else {
						_, err = c.Create(ctx, id, pod, c.Container("main"))
					}
					ran <- err
				}()
				requireSoon(t, "the hook", func(context.Context) error { return hasGot(must, of) })
				asked := time.Now()
				if tc.killed {
					require.NoError(t, must.Kill())
				}
				errCreate := <-ran
				took := time.Since(asked)
				inTimeouts(t, string(of)+" fails", took, timeout)
				t.Logf("%s: %v", of, errCreate)
				promise(t, "L20", string(of)+" fails with the plugin's name", onStock(fixture.NotRequired), func(t require.TestingT) {
					requireUnavailable(t, errCreate, tc.words)
					assert.Less(t, took, tc.atMost+time.Second)
				})
				promise(t, "L20", string(of)+" is told to none after it", onStock(fixture.NotRequired), func(t require.TestingT) {
					assert.Empty(t, after.Calls().Named("pod"+string(of)).Only(of).Events())
				})
				if tc.policy.GetKeepConnected() {
					start := time.Now()
					_, err := c.RunPod(ctx, n.CRI().Pod("next"+string(of)))
					took := time.Since(start)
					promise(t, "L22", "the next pod fails at once, with what the plugin owes", onStock(noPolicies), func(t require.TestingT) {
						requireUnavailable(t, err, "has owed an answer to "+string(of))
						assert.Less(t, took, timeout)
						requireNotTold(t, after, "next"+string(of))
					})
				}
				require.NoError(t, must.Kill())
				promise(t, "L7", "nothing is left after "+string(of), rollBackRaces, func(t require.TestingT) {
					removeAllPods(ctx, t, c)
					requireNothingLeft(t, n)
				})
			}
		})
	}
}

// The plugin is killed at the first of ten pods, while nine wait in line, and
// comes back.
func TestL20_PodsInLineWaitForARequiredPluginThatIsKilled(t *testing.T) {
	t.Parallel()
	const pods = 10
	n := startNode(t, withNeeds(fixture.Patient), operator(pluginSetting("must", "required_for = ['pods']\nwait = '20s'")))
	ctx := withinAMinute(t)
	first := joinProcess(t, n, plugin.Script{Index: "20", Name: "must", Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: {Work: time.Minute}}})
	ran := make(chan []creationOf, 1)
	go func() { ran <- runPods(ctx, n, pods, time.Minute, podsNamed(n, "waits", pods)...) }()
	requireSandboxesRun(ctx, t, n, pods)
	if !runsOnStock { // where they wait in line for a lock
		requireWaiting(t, n, first, pods-1)
	}
	requireSoon(t, "the hook", func(context.Context) error { return hasGot(first, plugin.RunPodSandbox) })
	require.NoError(t, first.Kill())
	if !runsOnStock {
		requireSoon(t, "pods that wait", func(context.Context) error { return waitFor(t, n, "must", pods-1) })
	}
	next := joinProcess(t, n, plugin.Script{Index: "20", Name: "must"})
	created := <-ran

	promise(t, "L20", "the pod that it was at fails, and the others come up with the word of the next", onStock("all come up without it"), func(t require.TestingT) {
		failed := 0
		for _, c := range created {
			if c.Err != nil {
				failed++
				requireUnavailable(t, c.Err)
				continue
			}
			requireWord(t, c.ID, next)
		}
		assert.Equal(t, 1, failed)
	})
	promise(t, "L7", "nothing is left", rollBackRaces, func(t require.TestingT) {
		removeAllPods(ctx, t, n.CRI())
		requireNothingLeft(t, n)
	})
}
