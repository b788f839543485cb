// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"maps"
	"strings"

	"github.com/moby/sys/userns"
	"github.com/opencontainers/selinux/go-selinux/label"
	"google.golang.org/protobuf/proto"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	core "github.com/containerd/containerd/v2/core/sandbox"
	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// labelSandbox gives a sandbox without a process the SELinux label whose level all of its
// containers share. It is the label that a pause container would have. hold ends with the creation:
// a sandbox in the store keeps the level by itself.
func (c *criService) labelSandbox(ociRuntime criconfig.Runtime, sandbox *sandboxstore.Sandbox) (hold func(), err error) {
	if !ociRuntime.WithoutProcess() {
		return func() {}, nil
	}
	asked := sandbox.Config.GetLinux().GetSecurityContext().GetSelinuxOptions()
	options, err := toLabel(asked)
	if err != nil {
		return nil, err
	}
	if sandbox.ProcessLabel, _, err = label.InitLabels(options); err != nil {
		return nil, fmt.Errorf("make the SELinux label of sandbox %q from %+v: %w", sandbox.ID, asked, err)
	}
	return c.sandboxStore.HoldLabel(sandbox.ProcessLabel)
}

// forShim returns what the shim controller receives of a sandbox: its runtime is the program that
// the handler names. The record keeps the type of the runtime, by which others recognize it.
func forShim(info core.Sandbox, ociRuntime criconfig.Runtime) core.Sandbox {
	if ociRuntime.Sandboxer == string(criconfig.ModeShim) && ociRuntime.Path != "" {
		info.Runtime.Name = ociRuntime.Path
	}
	return info
}

// withSysctls adds the default sysctls to the configuration of a sandbox without a process, as the
// controller of pause containers does for its own.
func (c *criService) withSysctls(config *runtime.PodSandboxConfig, ociRuntime criconfig.Runtime) *runtime.PodSandboxConfig {
	if !ociRuntime.WithoutProcess() || hostNetwork(config) {
		return config
	}
	sysctls := map[string]string{}
	if c.config.EnableUnprivilegedPorts {
		sysctls["net.ipv4.ip_unprivileged_port_start"] = "0"
	}
	if c.config.EnableUnprivilegedICMP && !userns.RunningInUserNS() {
		sysctls["net.ipv4.ping_group_range"] = "0 2147483647"
	}
	for name := range config.GetLinux().GetSysctls() {
		delete(sysctls, strings.ReplaceAll(name, "/", "."))
	}
	if len(sysctls) == 0 {
		return config
	}
	config = proto.Clone(config).(*runtime.PodSandboxConfig)
	if config.Linux == nil {
		config.Linux = &runtime.LinuxPodSandboxConfig{}
	}
	maps.Copy(sysctls, config.Linux.Sysctls)
	config.Linux.Sysctls = sysctls
	return config
}
