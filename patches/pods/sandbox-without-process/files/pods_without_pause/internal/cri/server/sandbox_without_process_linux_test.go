// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	core "github.com/containerd/containerd/v2/core/sandbox"
	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	"github.com/containerd/containerd/v2/plugins"
)

// noPause is a runtime whose pods have no process, and pause one whose pods have one.
var (
	noPause = criconfig.Runtime{Type: plugins.RuntimeRuncV2, Path: "/shim", Sandboxer: string(criconfig.ModeShim)}
	pause   = criconfig.Runtime{Type: plugins.RuntimeRuncV2, Path: "/shim", Sandboxer: string(criconfig.ModePodSandbox)}
)

// The shim controller starts the program that the handler names. Others, and the record, have the
// type of the runtime.
func TestShimOfSandbox(t *testing.T) {
	info := core.Sandbox{Runtime: core.RuntimeOpts{Name: plugins.RuntimeRuncV2}}
	require.Equal(t, "/shim", forShim(info, noPause).Runtime.Name)
	require.Equal(t, plugins.RuntimeRuncV2, info.Runtime.Name)
	require.Equal(t, plugins.RuntimeRuncV2, forShim(info, pause).Runtime.Name)
	require.Equal(t, "x", forShim(core.Sandbox{Runtime: core.RuntimeOpts{Name: "x"}}, criconfig.Runtime{Type: "x", Sandboxer: string(criconfig.ModeShim)}).Runtime.Name)
}

// A sandbox without a process has the default sysctls as if it had one, and the record has those of the pod.
func TestSysctlsOfSandboxWithoutProcess(t *testing.T) {
	c := newTestCRIService()
	c.config.EnableUnprivilegedPorts, c.config.EnableUnprivilegedICMP = true, true
	const ports, pings = "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range"

	config := &runtime.PodSandboxConfig{Linux: &runtime.LinuxPodSandboxConfig{Sysctls: map[string]string{"kernel.sem": "1"}}}
	require.Equal(t, map[string]string{"kernel.sem": "1", ports: "0", pings: "0 2147483647"}, c.withSysctls(config, noPause).Linux.Sysctls)
	require.Equal(t, map[string]string{"kernel.sem": "1"}, config.Linux.Sysctls)
	require.Len(t, c.withSysctls(&runtime.PodSandboxConfig{}, noPause).Linux.Sysctls, 2)

	own := map[string]string{ports: "99", "net/ipv4/ping_group_range": "1 1"}
	require.Equal(t, own, c.withSysctls(&runtime.PodSandboxConfig{Linux: &runtime.LinuxPodSandboxConfig{Sysctls: own}}, noPause).Linux.Sysctls)

	require.Same(t, config, c.withSysctls(config, pause))
	host := &runtime.PodSandboxConfig{Linux: &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{
		NamespaceOptions: &runtime.NamespaceOption{Network: runtime.NamespaceMode_NODE},
	}}}
	require.Same(t, host, c.withSysctls(host, noPause))
	c.config.EnableUnprivilegedPorts, c.config.EnableUnprivilegedICMP = false, false
	require.Same(t, config, c.withSysctls(config, noPause))
}
