// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/suite"
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
			n := StartNode(t, WithNeeds(Needs{Timeouts: Timeouts{Request: timeout}}), WithConfig(PluginSetting("must", "required_for = ['pods', 'containers']\nwait = '1s'")))
			after := plugin.New("30", "after")
			Connect(t, n, after)
			for _, of := range []plugin.Event{plugin.RunPodSandbox, plugin.CreateContainer} {
				ctx, c := WithinAMinute(t), n.CRI()
				must := JoinProcess(t, n, plugin.Script{Index: "20", Name: "must", Policy: tc.policy, Answers: map[plugin.Event]plugin.Answer{of: tc.answer}})
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
				RequireSoon(t, "the hook", func(context.Context) error { return HasGot(must, of) })
				asked := time.Now()
				if tc.killed {
					require.NoError(t, must.Kill())
				}
				errCreate := <-ran
				took := time.Since(asked)
				InTimeouts(t, string(of)+" fails", took, timeout)
				t.Logf("%s: %v", of, errCreate)
				Promise(t, "L20", string(of)+" fails with the plugin's name", OnStock(NotRequired), func(t require.TestingT) {
					RequireUnavailable(t, errCreate, tc.words)
					assert.Less(t, took, tc.atMost+time.Second)
				})
				Promise(t, "L20", string(of)+" is told to none after it", OnStock(NotRequired), func(t require.TestingT) {
					assert.Empty(t, after.Calls().Named("pod"+string(of)).Only(of).Events())
				})
				if tc.policy.GetKeepConnected() {
					start := time.Now()
					_, err := c.RunPod(ctx, n.CRI().Pod("next"+string(of)))
					took := time.Since(start)
					Promise(t, "L22", "the next pod fails at once, with what the plugin owes", OnStock(NoPolicies), func(t require.TestingT) {
						RequireUnavailable(t, err, "has owed an answer to "+string(of))
						assert.Less(t, took, timeout)
						RequireNotTold(t, after, "next"+string(of))
					})
				}
				require.NoError(t, must.Kill())
				Promise(t, "L7", "nothing is left after "+string(of), RollBackRaces, func(t require.TestingT) {
					RemoveAllPods(ctx, t, c)
					RequireNothingLeft(t, n)
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
	n := StartNode(t, WithNeeds(Patient), WithConfig(PluginSetting("must", "required_for = ['pods']\nwait = '20s'")))
	ctx := WithinAMinute(t)
	first := JoinProcess(t, n, plugin.Script{Index: "20", Name: "must", Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: {Work: time.Minute}}})
	ran := make(chan []CreationOf, 1)
	go func() { ran <- RunPods(ctx, n, pods, time.Minute, PodsNamed(n, "waits", pods)...) }()
	RequireSandboxesRun(ctx, t, n, pods)
	if !RunsOnStock { // where they wait in line for a lock
		RequireWaiting(t, n, first, pods-1)
	}
	RequireSoon(t, "the hook", func(context.Context) error { return HasGot(first, plugin.RunPodSandbox) })
	require.NoError(t, first.Kill())
	if !RunsOnStock {
		RequireSoon(t, "pods that wait", func(context.Context) error { return WaitFor(t, n, "must", pods-1) })
	}
	next := JoinProcess(t, n, plugin.Script{Index: "20", Name: "must"})
	created := <-ran

	Promise(t, "L20", "the pod that it was at fails, and the others come up with the word of the next", OnStock("all come up without it"), func(t require.TestingT) {
		failed := 0
		for _, c := range created {
			if c.Err != nil {
				failed++
				RequireUnavailable(t, c.Err)
				continue
			}
			RequireWord(t, c.ID, next)
		}
		assert.Equal(t, 1, failed)
	})
	Promise(t, "L7", "nothing is left", RollBackRaces, func(t require.TestingT) {
		RemoveAllPods(ctx, t, n.CRI())
		RequireNothingLeft(t, n)
	})
}
