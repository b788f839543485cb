// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A pod that is too large for one message keeps plugins out. The log names it.
func TestL17_PodTooLargeForAMessageIsNamed(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Pod("huge")
	config.Annotations = map[string]string{"huge": KiB(5 << 10)}
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	small, err := c.RunPod(ctx, c.Pod("small"))
	require.NoError(t, err)

	late := plugin.New("10", "late")
	t.Cleanup(late.Crash)
	require.Error(t, late.Connect(WithinAMinute(t), n.NRISocket()))
	Promise(t, "L17", "the log names the pod that is too large to be sent, and the plugin that could not join", OnStock("it names neither"), func(t require.TestingT) {
		RequireSoon(t, "the pod in the log", func(context.Context) error {
			return HasLogged(n, "10-late", "default/huge", pod, "exceed maximum message size of 4194304")
		})
	})

	require.NoError(t, c.StopPod(ctx, pod))
	require.NoError(t, c.RemovePod(ctx, pod))
	Connect(t, n, late)
	calls := late.Calls().Only(plugin.Synchronize)
	require.Len(t, calls, 1)
	require.Len(t, calls[0].Pods, 1)
	require.Equal(t, small, calls[0].Pods[0].GetId())
}
