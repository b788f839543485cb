// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/suite"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The plugin never comes. Pods and containers are refused when they have waited for
// it, but for those of exempt namespaces.
func TestL20_NothingComesUpWithoutARequiredPluginThatIsAway(t *testing.T) {
	t.Parallel()
	const wait = time.Second
	rule := PluginSetting("must", "required_for = ['pods', 'containers']\nexempt_namespaces = ['exempt']\nwait = '1s'")
	n := StartNode(t, WithConfig(NoRule))
	ctx, c := WithinAMinute(t), n.CRI()
	before := PodIn(n, "default", "before", nil)
	came, err := c.RunPod(ctx, before)
	require.NoError(t, err)
	require.NoError(t, SaysNow(t, n, rule))
	other := plugin.New("10", "other")
	Connect(t, n, other)

	start := time.Now()
	_, podErr := c.RunPod(ctx, PodIn(n, "default", "refused", nil))
	podTook := time.Since(start)
	start = time.Now()
	_, ctrErr := c.Create(ctx, came, before, c.Container("refused"))
	ctrTook := time.Since(start)
	InTimeouts(t, "the pod is refused", podTook, wait)
	InTimeouts(t, "the container is refused", ctrTook, wait)
	t.Logf("the pod: %v", podErr)
	t.Logf("the container: %v", ctrErr)

	Promise(t, "L20", "a pod is refused with the name of the plugin, and since when it is away", OnStock(NotRequired), func(t require.TestingT) {
		RequireUnavailable(t, podErr, "default/refused", "is away since")
		assert.GreaterOrEqual(t, podTook, wait)
		assert.Less(t, podTook, 3*wait)
	})
	Promise(t, "L20", "a container is refused in a pod that came up before the rule", OnStock(NotRequired), func(t require.TestingT) {
		RequireUnavailable(t, ctrErr, "container refused of pod default/before", "is away since")
		assert.GreaterOrEqual(t, ctrTook, wait)
		assert.Less(t, ctrTook, 3*wait)
	})
	Promise(t, "L20", "nobody was told of either", OnStock(NotRequired), func(t require.TestingT) {
		RequireNotTold(t, other, "refused")
		assert.Empty(t, other.Calls().Only(plugin.CreateContainer).Events())
	})
	Promise(t, "L20", "pods and containers of an exempt namespace come up", KeptOnStock, func(t require.TestingT) {
		exempt := PodIn(n, "exempt", "exempt", nil)
		id, err := c.RunPod(ctx, exempt)
		require.NoError(t, err)
		container, err := c.Create(ctx, id, exempt, c.Container("main"))
		require.NoError(t, err)
		require.NoError(t, c.Start(ctx, container))
	})
	Promise(t, "L17", "refusals and waits are counted, and the status says what is away", OnStock("it counts none"), func(t require.TestingT) {
		refusals, err := n.Metrics(ctx, "containerd_nri_required_plugin_refusals_total")
		require.NoError(t, err)
		require.Len(t, refusals, 2)
		waits, err := n.Metrics(ctx, "containerd_nri_required_plugin_wait_seconds_count")
		require.NoError(t, err)
		require.Len(t, waits, 2)
		required := ReadNRI(t, n).RequiredPlugins
		require.Len(t, required, 1)
		assert.Equal(t, "must", required[0].Name)
		assert.Equal(t, []string{"pods", "containers"}, required[0].RequiredFor)
		assert.NotNil(t, required[0].Away)
	})
	Promise(t, "L8", "all pods end without it, at once", KeptOnStock, func(t require.TestingT) {
		start := time.Now()
		RemoveAllPods(ctx, t, c)
		assert.Less(t, time.Since(start), 10*wait)
		RequireNothingLeft(t, n)
	})
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
		t.Logf("pods waited %s, and %s once the plugin came", Slowest(created), time.Since(joined))
		RequireAllCreated(t, created)
		Promise(t, "L20", "pods come up once it has answered for each, under index "+index, OnStock(NotRequired), func(t require.TestingT) {
			for _, c := range created {
				assert.Greater(t, c.Took, joined.Sub(start), "it has not waited")
				RequireWord(t, c.ID, must)
			}
		})
		require.NoError(t, must.Kill())
		RequireSoon(t, "the plugin to be gone", func(context.Context) error { return IsAway(t, n) })
	}
	Promise(t, "L8", "their ends wait for nobody", KeptOnStock, func(t require.TestingT) {
		RemoveAllPods(ctx, t, n.CRI())
		RequireNothingLeft(t, n)
	})
}
