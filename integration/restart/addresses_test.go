// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// Pods keep their addresses over a restart: pods that are attached to their network while they are
// created, and pods that are attached before, because of a sysctl.
func TestL15_PodsKeepTheirAddresses(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, c := WithinAMinute(t), n.CRI()
	during, before := c.Pod("during"), c.Pod("before")
	before.Linux.Sysctls = map[string]string{"net.ipv4.ip_unprivileged_port_start": "80"}
	addresses := map[string]string{}
	for _, config := range []*runtime.PodSandboxConfig{during, before} {
		pod, err := c.RunPod(ctx, config)
		require.NoError(t, err)
		status, err := c.Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
		require.NoError(t, err)
		addresses[pod] = status.GetStatus().GetNetwork().GetIp()
		require.NotEmpty(t, addresses[pod])
	}

	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.Boot(ctx))
	for pod, address := range addresses {
		status, err := c.Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
		require.NoError(t, err)
		assert.Equal(t, address, status.GetStatus().GetNetwork().GetIp())
		require.NoError(t, c.StopPod(ctx, pod))
		require.NoError(t, c.RemovePod(ctx, pod))
	}
	RequireNothingLeft(t, n)
}
