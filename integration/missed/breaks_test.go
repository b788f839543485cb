// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A plugin hangs each time that it receives the end of one pod. When it reconnects it serves other
// pods, as it does without patches. A plugin that crashes there is in conformance/cases.
func TestL22_EndThatBreaksAPluginKeepsItFromNoOtherPod(t *testing.T) {
	t.Parallel()
	n, ctx := StartNode(t), WithinAMinute(t)
	p, gate := plugin.New("10", "hangs"), NewGate(t)
	p.On(plugin.StopPodSandbox, func(ctx context.Context, call *plugin.Call) error {
		if call.Pod.GetName() == "bad" {
			return gate.Hold(ctx, call)
		}
		return nil
	})
	Connect(t, n, p)
	bad := NewLife(t, n, "bad")
	require.NoError(t, n.CRI().Stop(ctx, bad.Container, 0))
	require.NoError(t, n.CRI().StopPod(ctx, bad.Pod))
	RequireClosed(t, p.Closed(), "the plugin to be dropped")
	Promise(t, "L22", "it is asked about other pods soon", KeptOnStock, func(t require.TestingT) {
		for i := range 8 {
			name := fmt.Sprintf("other-%d", i)
			_ = p.Connect(ctx, n.NRISocket()) // it may be dropped at once
			_, err := n.CRI().RunPod(ctx, n.CRI().Pod(name))
			require.NoError(t, err)
			if len(p.Calls().Named(name).Only(plugin.RunPodSandbox)) > 0 {
				return
			}
		}
		assert.Fail(t, "it is not asked about any other pod")
	})
	RemoveAllPods(ctx, t, n.CRI())
}
