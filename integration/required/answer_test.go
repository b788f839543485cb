// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The plugin is killed at the first of ten pods, while nine wait, and reconnects.
func TestL20_PodsInLineWaitForARequiredPluginThatIsKilled(t *testing.T) {
	t.Parallel()
	const pods = 10
	n := StartNode(t, WithNeeds(Patient), WithConfig(PluginSetting("must", "required_for = ['pods']\nwait = '20s'")))
	ctx := WithinAMinute(t)
	first := JoinProcess(t, n, plugin.Script{Index: "20", Name: "must", Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: {Work: time.Minute}}})
	ran := make(chan []CreationOf, 1)
	go func() { ran <- RunPods(ctx, n, pods, time.Minute, PodsNamed(n, "waits", pods)...) }()
	RequireSandboxesRun(ctx, t, n, pods)
	if !RunsOnStock { // on stock they wait for a lock
		RequireWaiting(t, n, first, pods-1)
	}
	RequireSoon(t, "the hook", func(context.Context) error { return HasGot(first, plugin.RunPodSandbox) })
	require.NoError(t, first.Kill())
	if !RunsOnStock {
		RequireSoon(t, "pods that wait", func(context.Context) error { return WaitFor(t, n, "must", pods-1) })
	}
	next := JoinProcess(t, n, plugin.Script{Index: "20", Name: "must"})
	created := <-ran

	Promise(t, "L20", "the pod in its hook fails, and the others start with the approval of the next process", OnStock("all start without it"), func(t require.TestingT) {
		failed := 0
		for _, c := range created {
			if c.Err != nil {
				failed++
				RequireUnavailable(t, c.Err)
				continue
			}
			RequireApproval(t, c.ID, next)
		}
		assert.Equal(t, 1, failed)
	})
	Promise(t, "L7", "nothing is left", RollBackRaces, func(t require.TestingT) {
		RemoveAllPods(ctx, t, n.CRI())
		RequireNothingLeft(t, n)
	})
}
