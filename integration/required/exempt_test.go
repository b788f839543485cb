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
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// For a pod or container of an exempt namespace a required plugin is like any other: it waits one
// timeout for one that hangs, and does not wait for one that is killed. Those of another namespace
// are rejected at the same time.
func TestL20_ExemptNamespacesDoWithoutAPluginThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	const timeout = 4 * time.Second
	for name, tc := range map[string]struct {
		answer plugin.Answer
		policy *api.FailurePolicy
		killed bool
		atMost time.Duration
		words  string // in the error of pods and containers of other namespaces
	}{
		"it hangs in the hook":          {answer: plugin.Answer{Freeze: true}, atMost: 2 * timeout, words: "is disconnected since"},
		"it hangs, and stays connected": {answer: plugin.Answer{Freeze: true}, policy: &api.FailurePolicy{KeepConnected: true}, atMost: 2 * timeout, words: "has not answered"},
		"it is killed in the hook":      {answer: plugin.Answer{Work: time.Minute}, killed: true, atMost: timeout, words: "is disconnected since"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := StartNode(t, WithNeeds(Needs{Timeouts: Timeouts{Request: timeout}}), WithConfig(PluginSetting("must", "required_for = ['pods', 'containers']\nexempt_namespaces = ['exempt']\nwait = '300ms'")))
			for _, of := range []plugin.Event{plugin.RunPodSandbox, plugin.CreateContainer} {
				ctx, c := WithinAMinute(t), n.CRI()
				must := JoinProcess(t, n, plugin.Script{Index: "20", Name: "must", Policy: tc.policy, Answers: map[plugin.Event]plugin.Answer{of: tc.answer}})
				create := func(namespace, name string) func() error {
					pod := PodIn(n, namespace, name, nil)
					if of == plugin.RunPodSandbox {
						return func() error { _, err := c.RunPod(ctx, pod); return err }
					}
					id, err := c.RunPod(ctx, pod)
					require.NoError(t, err)
					return func() error { _, err := c.Create(ctx, id, pod, c.Container("main")); return err }
				}
				exempt, next, other := create("exempt", "first"), create("exempt", "next"), create("default", "other")

				ran := InBackground(exempt)
				RequireSoon(t, "the hook", func(context.Context) error { return HasGot(must, of) })
				start := time.Now()
				if tc.killed {
					require.NoError(t, must.Kill())
				}
				err := <-ran
				took := time.Since(start)
				InTimeouts(t, string(of)+" of the exempt namespace", took, timeout)
				Promise(t, "L20", string(of)+" of an exempt namespace goes on without it", KeptOnStock, func(t require.TestingT) {
					require.NoError(t, err)
					assert.Less(t, took, tc.atMost)
				})
				start = time.Now()
				err = next()
				took = time.Since(start)
				InTimeouts(t, "the next one", took, timeout)
				Promise(t, "L22", "the next one does not wait, "+string(of), KeptOnStock, func(t require.TestingT) {
					require.NoError(t, err)
					assert.Less(t, took, timeout)
				})
				err = other()
				t.Logf("of another namespace: %v", err)
				Promise(t, "L20", "one of another namespace is rejected at the same time, "+string(of), OnStock(NotRequired), func(t require.TestingT) {
					RequireUnavailable(t, err, tc.words)
				})
				require.NoError(t, must.Kill())
				RemoveAllPods(ctx, t, c)
				RequireNothingLeft(t, n)
			}
		})
	}
}

// The plugin is killed while pods and containers wait for it. Those of an exempt namespace start at
// that moment, the others with the answer of the next process.
func TestL20_ExemptNamespacesDoNotWaitForAPluginThatIsKilled(t *testing.T) {
	t.Parallel()
	const pods = 3 // of each: required, exempt, and containers of an exempt one
	n := StartNode(t, WithNeeds(Patient), WithConfig(PluginSetting("must", "required_for = ['pods', 'containers']\nexempt_namespaces = ['exempt']\nwait = '40s'")))
	ctx, c := WithinAMinute(t), n.CRI()
	host := PodIn(n, "exempt", "host", nil)
	hostID, err := c.RunPod(ctx, host) // while it is disconnected
	require.NoError(t, err)
	first := JoinProcess(t, n, plugin.Script{Index: "20", Name: "must", Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: {Work: time.Minute}}})
	holds := InBackground(func() error { _, err := c.RunPod(ctx, PodIn(n, "default", "first", nil)); return err })
	RequireSoon(t, "the hook", func(context.Context) error { return HasGot(first, plugin.RunPodSandbox) })

	required := make(chan []CreationOf, 1)
	go func() { required <- RunPods(ctx, n, pods, time.Minute, PodsNamed(n, "waits", pods)...) }()
	var exempt []<-chan error
	for i := range pods {
		name := string(rune('a' + i))
		exempt = append(exempt,
			InBackground(func() error { _, err := c.RunPod(ctx, PodIn(n, "exempt", name, nil)); return err }),
			InBackground(func() error { _, err := c.Create(ctx, hostID, host, c.Container(name)); return err }))
	}
	if !RunsOnStock { // on stock they wait for a lock
		RequireWaiting(t, n, first, 3*pods)
	}
	killed := time.Now()
	require.NoError(t, first.Kill())
	var failed []error
	for _, e := range exempt {
		if err := <-e; err != nil {
			failed = append(failed, err)
		}
	}
	t.Logf("all of the exempt namespace started within %s after the kill", time.Since(killed).Round(time.Millisecond))
	Promise(t, "L20", "pods and containers of an exempt namespace start without it", KeptOnStock, func(t require.TestingT) { require.Empty(t, failed) })
	if !RunsOnStock {
		RequireSoon(t, "pods that still wait", func(context.Context) error { return WaitFor(t, n, "must", pods) })
	}
	next := JoinProcess(t, n, plugin.Script{Index: "20", Name: "must"})
	created := <-required
	Promise(t, "L20", "the others start with the approval of the next process", OnStock(NotRequired), func(t require.TestingT) {
		RequireAllCreated(t, created)
		for _, pod := range created {
			RequireApproval(t, pod.ID, next)
		}
	})
	err = <-holds
	Promise(t, "L20", "the pod in its hook fails", OnStock(NotRequired), func(t require.TestingT) {
		RequireUnavailable(t, err, "did not answer")
	})
	RemoveAllPods(ctx, t, c)
	RequireNothingLeft(t, n)
}
