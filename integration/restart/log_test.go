// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The runtime is killed during a rollout. Interrupted pods are normal then, and listing them logs
// no error.
func TestL17_PodsThatWereCutAreNoErrorsInTheLog(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx := WithinAMinute(t)
	points := []node.Point{node.Before("ptp", "ADD"), node.Before("runc", "create"), node.After("runc", "create")}
	var holds []*node.Hold
	for _, at := range points {
		name := strings.ReplaceAll(strings.ToLower(at.String()), " ", "-")
		hold, ran := HoldCreation(ctx, t, n, at, n.CRI().Pod(name))
		defer func() { require.Error(t, <-ran) }()
		holds = append(holds, hold)
	}
	require.NoError(t, n.Kill(ctx))
	for _, hold := range holds {
		require.NoError(t, hold.Release())
	}
	require.NoError(t, n.Quiet(ctx))
	before, err := n.Log()
	require.NoError(t, err)
	require.NoError(t, n.Boot(ctx))
	for _, index := range []string{"10", "20", "30"} {
		p := plugin.New(index, "lists")
		Connect(t, n, p)
		require.Len(t, p.Calls().Only(plugin.Synchronize)[0].Pods, len(points))
	}
	RemoveAllPods(ctx, t, n.CRI())
	RequireNothingLeft(t, n)
	log, err := n.Log()
	require.NoError(t, err)
	Promise(t, "L17", "pods that a restart interrupted cause no errors in the log", OnStock("each list of them logs an error"), func(t require.TestingT) {
		assert.Empty(t, errorsIn(log[len(before):]))
	})
}

// errorsIn returns the lines of a log with errors, except those of the test connections of the
// node, and of shims that send events while containerd is down.
func errorsIn(log string) (lines []string) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "level=error") && !strings.Contains(line, "connected and failed to join") &&
			!strings.Contains(line, `msg="post event"`) {
			lines = append(lines, line)
		}
	}
	return lines
}
