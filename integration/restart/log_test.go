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

// A node was killed in the middle of a rollout. That pods were cut is in order, and
// listing what is left of them is no error.
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
	Promise(t, "L17", "pods that a restart cut are no errors in the log", OnStock("each list of them is"), func(t require.TestingT) {
		assert.Empty(t, errorsIn(log[len(before):]))
	})
}

// errorsIn are the lines of a log that tell an error, other than of a connection that
// the node makes to see whether plugins can connect, and of a shim which has an event for
// containerd while that is disconnected.
func errorsIn(log string) (lines []string) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "level=error") && !strings.Contains(line, "connected and failed to join") &&
			!strings.Contains(line, `msg="post event"`) {
			lines = append(lines, line)
		}
	}
	return lines
}
