// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The plugin never comes. Pods and containers are refused when they have waited for
// it, but for those of exempt namespaces.
func TestL20_NothingComesUpWithoutARequiredPluginThatIsAway(t *testing.T) {
	t.Parallel()
	const wait = time.Second
	rule := pluginSetting("must", "required_for = ['pods', 'containers']\nexempt_namespaces = ['exempt']\nwait = '1s'")
	n := startNode(t, operator(noRule))
	ctx, c := withinAMinute(t), n.CRI()
	before := podIn(n, "default", "before", nil)
	came, err := c.RunPod(ctx, before)
	require.NoError(t, err)
	require.NoError(t, saysNow(t, n, rule))
	other := plugin.New("10", "other")
	connect(t, n, other)

	start := time.Now()
	_, podErr := c.RunPod(ctx, podIn(n, "default", "refused", nil))
	podTook := time.Since(start)
	start = time.Now()
	_, ctrErr := c.Create(ctx, came, before, c.Container("refused"))
	ctrTook := time.Since(start)
	inTimeouts(t, "the pod is refused", podTook, wait)
	inTimeouts(t, "the container is refused", ctrTook, wait)
	t.Logf("the pod: %v", podErr)
	t.Logf("the container: %v", ctrErr)

	promise(t, "L20", "a pod is refused with the name of the plugin, and since when it is away", onStock(fixture.NotRequired), func(t require.TestingT) {
		requireUnavailable(t, podErr, "default/refused", "is away since")
		assert.GreaterOrEqual(t, podTook, wait)
		assert.Less(t, podTook, 3*wait)
	})
	promise(t, "L20", "a container is refused in a pod that came up before the rule", onStock(fixture.NotRequired), func(t require.TestingT) {
		requireUnavailable(t, ctrErr, "container refused of pod default/before", "is away since")
		assert.GreaterOrEqual(t, ctrTook, wait)
		assert.Less(t, ctrTook, 3*wait)
	})
	promise(t, "L20", "nobody was told of either", onStock(fixture.NotRequired), func(t require.TestingT) {
		requireNotTold(t, other, "refused")
		assert.Empty(t, other.Calls().Only(plugin.CreateContainer).Events())
	})
	promise(t, "L20", "pods and containers of an exempt namespace come up", keptOnStock, func(t require.TestingT) {
		exempt := podIn(n, "exempt", "exempt", nil)
		id, err := c.RunPod(ctx, exempt)
		require.NoError(t, err)
		container, err := c.Create(ctx, id, exempt, c.Container("main"))
		require.NoError(t, err)
		require.NoError(t, c.Start(ctx, container))
	})
	promise(t, "L17", "refusals and waits are counted, and the status says what is away", onStock("it counts none"), func(t require.TestingT) {
		refusals, err := n.Metrics(ctx, "containerd_nri_required_plugin_refusals_total")
		require.NoError(t, err)
		require.Len(t, refusals, 2)
		waits, err := n.Metrics(ctx, "containerd_nri_required_plugin_wait_seconds_count")
		require.NoError(t, err)
		require.Len(t, waits, 2)
		required := readNRI(t, n).RequiredPlugins
		require.Len(t, required, 1)
		assert.Equal(t, "must", required[0].Name)
		assert.Equal(t, []string{"pods", "containers"}, required[0].RequiredFor)
		assert.NotNil(t, required[0].Away)
	})
	promise(t, "L8", "all pods end without it, at once", keptOnStock, func(t require.TestingT) {
		start := time.Now()
		removeAllPods(ctx, t, c)
		assert.Less(t, time.Since(start), 10*wait)
		requireNothingLeft(t, n)
	})
}

// The plugin registers while pods wait, under an index of its choice.
func TestL20_PodsWaitForARequiredPluginThatComesLate(t *testing.T) {
	t.Parallel()
	const pods = 5
	n := startNode(t, operator(pluginSetting("must", "required_for = ['pods']\nwait = '30s'")))
	ctx := withinAMinute(t)
	for round, index := range []string{"10", "90"} {
		name := []string{"first", "second"}[round]
		start := time.Now()
		ran := make(chan []creationOf, 1)
		go func() { ran <- runPods(ctx, n, pods, 40*time.Second, podsNamed(n, name, pods)...) }()
		if runsOnStock {
			requireSandboxesRun(ctx, t, n, pods*(round+1))
		} else {
			requireSoon(t, "pods that wait", func(context.Context) error { return waitFor(t, n, "must", pods) })
		}
		joined := time.Now()
		must := joinProcess(t, n, plugin.Script{Index: index, Name: "must"})
		created := <-ran
		t.Logf("pods waited %s, and %s once the plugin came", slowest(created), time.Since(joined))
		requireAllCreated(t, created)
		promise(t, "L20", "pods come up once it has answered for each, under index "+index, onStock(fixture.NotRequired), func(t require.TestingT) {
			for _, c := range created {
				assert.Greater(t, c.Took, joined.Sub(start), "it has not waited")
				requireWord(t, c.ID, must)
			}
		})
		require.NoError(t, must.Kill())
		requireSoon(t, "the plugin to be gone", func(context.Context) error { return isAway(t, n) })
	}
	promise(t, "L8", "their ends wait for nobody", keptOnStock, func(t require.TestingT) {
		removeAllPods(ctx, t, n.CRI())
		requireNothingLeft(t, n)
	})
}
