// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// ConnectTrio is three plugins of which the first two look at the pod's network at
// its end.
func ConnectTrio(t *testing.T, n *node.Node) (first, second, third *plugin.Plugin) {
	first, second, third = plugin.New("10", "first"), plugin.New("20", "second"), plugin.New("30", "third")
	for _, p := range []*plugin.Plugin{first, second} {
		p.On(plugin.StopPodSandbox, AgreesIfNetworkStands(n))
		p.On(plugin.RemovePodSandbox, AgreesIfNetworkStands(n))
	}
	Connect(t, n, first, second, third)
	return first, second, third
}

// RequireUndoneWhileNetworkStood checks what a plugin that was asked was told of a pod.
func RequireUndoneWhileNetworkStood(t require.TestingT, p *plugin.Plugin, pod *runtime.PodSandboxConfig) {
	calls := p.Calls().Named(pod.GetMetadata().GetName())
	assert.Equal(t, Undone, calls.Events(), p.Name())
	for _, call := range calls.Only(plugin.StopPodSandbox, plugin.RemovePodSandbox) {
		assert.NoError(t, call.Err, "%s looked at the network", p.Name())
		assert.NoError(t, call.Abandoned, "%s got %s under a dead context", p.Name(), call.Event)
	}
}

// RunRefused has a plugin refuse a pod, which is returned.
func RunRefused(t *testing.T, p *plugin.Plugin, n Runtime) *runtime.PodSandboxConfig {
	t.Helper()
	p.On(plugin.RunPodSandbox, plugin.Fail("no room for it"))
	config := n.CRI().Pod("refused")
	_, err := n.CRI().RunPod(WithinAMinute(t), config)
	require.ErrorContains(t, err, "no room for it")
	return config
}
