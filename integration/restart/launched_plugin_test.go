// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// A plugin that the runtime launches is served like any other. After a restart it is launched
// again, and receives all existing pods.
func TestL15_LaunchedPluginIsLaunchedAgainAndReceivesEnds(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	n := StartNode(t, func(o *node.Options) { o.Config = ConfigLaunching(t, record) })
	l := NewLife(t, n, "kept")
	require.Equal(t, []string{"Synchronize 0", "RunPodSandbox kept"}, LinesOf(t, record))

	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	l.End(t)
	Promise(t, "L15", "a launched plugin receives the end of a pod from before a restart", OnStock("it does not receive it"), func(t require.TestingT) {
		assert.Equal(t, []string{
			"Synchronize 0", "RunPodSandbox kept",
			"Synchronize 1", "StopPodSandbox kept", "RemovePodSandbox kept",
		}, LinesOf(t, record))
	})
}
