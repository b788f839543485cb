// SPDX-License-Identifier: Apache-2.0

package podsandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

func TestSysctlsOfInterfacesAreSetLater(t *testing.T) {
	config := &runtime.PodSandboxConfig{Linux: &runtime.LinuxPodSandboxConfig{}}
	config.Linux.Sysctls = map[string]string{
		"net.ipv4.conf.eth0.rp_filter": "2", "net/ipv6/neigh/eth0.100/gc_stale_time": "9",
		"net.ipv4.conf.all.rp_filter": "1", "net.ipv6.conf.default.forwarding": "1", "net.ipv4.conf.lo.rp_filter": "1",
		"net.ipv4.ip_local_port_range": "1 2", "kernel.shm_rmid_forced": "1", "net/ipv4/conf/../rp_filter": "3",
	}
	later := InterfaceSysctls(config)
	require.Equal(t, map[string]string{"net.ipv4.conf.eth0.rp_filter": "2", "net/ipv6/neigh/eth0.100/gc_stale_time": "9"}, later)
	given := &sandboxstore.Metadata{GivenNetwork: &sandboxstore.GivenNetwork{}}
	require.Len(t, WithoutInterfaceSysctls(given, config).Linux.Sysctls, 6)
	require.Len(t, config.Linux.Sysctls, 8)
	require.Same(t, config, WithoutInterfaceSysctls(&sandboxstore.Metadata{}, config))
	config.Linux.Sysctls = nil
	require.Same(t, config, WithoutInterfaceSysctls(given, config))
	require.Empty(t, InterfaceSysctls(nil))
}
