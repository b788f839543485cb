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

// The plugin never connects, and is required since a restart. A case in conformance/cases asserts
// that nothing starts without it.
func TestL20_RuleThatIsNewHoldsForContainersOfPodsOfBefore(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(NoRule))
	ctx, c := WithinAMinute(t), n.CRI()
	before := PodIn(n, "default", "before", nil)
	came, err := c.RunPod(ctx, before)
	require.NoError(t, err)
	require.NoError(t, SaysNow(t, n, PluginSetting("must", "required_for = ['pods', 'containers']\nwait = '1s'")))
	_, _ = c.RunPod(ctx, PodIn(n, "default", "rejected", nil))
	_, ctrErr := c.Create(ctx, came, before, c.Container("rejected"))

	Promise(t, "L20", "a container is rejected in a pod that started before the rule", OnStock(NotRequired), func(t require.TestingT) {
		RequireUnavailable(t, ctrErr, "container rejected of pod default/before")
	})
	Promise(t, "L17", "rejections and waits are counted, and the status names the disconnected plugin", OnStock("it counts none"), func(t require.TestingT) {
		rejections, err := n.Metrics(ctx, "containerd_nri_required_plugin_rejections_total")
		require.NoError(t, err)
		require.Len(t, rejections, 2)
		waits, err := n.Metrics(ctx, "containerd_nri_required_plugin_wait_seconds_count")
		require.NoError(t, err)
		require.Len(t, waits, 2)
		required := ReadNRI(t, n).RequiredPlugins
		require.Len(t, required, 1)
		assert.Equal(t, "must", required[0].Name)
		assert.Equal(t, []string{"pods", "containers"}, required[0].RequiredFor)
		assert.NotNil(t, required[0].Disconnected)
	})
	RemoveAllPods(ctx, t, c)
	RequireNothingLeft(t, n)
}

// The plugin registers while pods wait, under an index of its choice.
func TestL20_PodsWaitForARequiredPluginThatComesLate(t *testing.T) {
	t.Parallel()
	const pods = 5
	n := StartNode(t, WithConfig(PluginSetting("must", "required_for = ['pods']\nwait = '30s'")))
	ctx := WithinAMinute(t)
	for round, index := range []string{"10", "90"} {
		name := []string{"first", "second"}[round]
		start := time.Now()
		ran := make(chan []CreationOf, 1)
		go func() { ran <- RunPods(ctx, n, pods, 40*time.Second, PodsNamed(n, name, pods)...) }()
		if RunsOnStock {
			RequireSandboxesRun(ctx, t, n, pods*(round+1))
		} else {
			RequireSoon(t, "pods that wait", func(context.Context) error { return WaitFor(t, n, "must", pods) })
		}
		joined := time.Now()
		must := JoinProcess(t, n, plugin.Script{Index: index, Name: "must"})
		created := <-ran
		t.Logf("pods waited %s, and %s after the plugin joined", Slowest(created), time.Since(joined))
		RequireAllCreated(t, created)
		Promise(t, "L20", "pods start once it has answered for each, under index "+index, OnStock(NotRequired), func(t require.TestingT) {
			for _, c := range created {
				assert.Greater(t, c.Took, joined.Sub(start), "it has not waited")
				RequireApproval(t, c.ID, must)
			}
		})
		require.NoError(t, must.Kill())
		RequireSoon(t, "the plugin to be disconnected", func(context.Context) error { return IsDisconnected(t, n) })
	}
	RemoveAllPods(ctx, t, n.CRI())
	RequireNothingLeft(t, n)
}
