// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The tools for tests of frozen plugins.
func TestPluginInAProcessCanBeFrozenWokenAndKilled(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithNeeds(Patient))
	first := plugin.New("10", "first")
	Connect(t, n, first)
	p := JoinProcess(t, n, plugin.Script{Index: "20", Name: "process"})
	ctx, c := WithinAMinute(t), n.CRI()

	require.NoError(t, p.Freeze(ctx))
	ran := InBackground(func() error { _, err := c.RunPod(ctx, c.Pod("waits")); return err })
	RequireSoon(t, "the previous plugin", func(context.Context) error { return HasAnswered(first, plugin.RunPodSandbox) })
	require.True(t, IsOpen(ran), "the pod became Ready without the frozen plugin")
	assert.Empty(t, p.Calls().Only(plugin.RunPodSandbox), "it was frozen")
	require.NoError(t, p.Thaw())
	require.NoError(t, RequireEnds(t, ran, "RunPodSandbox"))
	RequireSoon(t, "its record", func(context.Context) error { return HasAnswered(p, plugin.RunPodSandbox) })

	require.NoError(t, p.Freeze(ctx))
	require.NoError(t, p.Kill())
	require.NoError(t, p.Kill(), "a second time")
	require.Error(t, p.Thaw())
	_, err := c.RunPod(ctx, c.Pod("next"))
	require.NoError(t, err)
	assert.Len(t, p.Calls().Only(plugin.RunPodSandbox), 1)
}
