// SPDX-License-Identifier: Apache-2.0

package podsandbox

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// InterfaceSysctls returns the sysctls of a pod that exist once its interface does, such as
// net.ipv4.conf.eth0.rp_filter.
func InterfaceSysctls(config *runtime.PodSandboxConfig) map[string]string {
	found := map[string]string{}
	for name, value := range config.GetLinux().GetSysctls() {
		separator := "."
		if strings.Contains(name, "/") {
			separator = "/" // the name of the interface may have dots
		}
		parts := strings.Split(name, separator)
		if len(parts) == 5 && parts[0] == "net" && (parts[2] == "conf" || parts[2] == "neigh") && !slices.Contains([]string{"all", "default", "lo", "", ".", ".."}, parts[3]) {
			found[name] = value
		}
	}
	return found
}

// WithoutInterfaceSysctls returns the configuration of a sandbox for a runtime that sets sysctls before the plugin
// of the network has made an interface. They are set afterwards.
func WithoutInterfaceSysctls(metadata *sandboxstore.Metadata, config *runtime.PodSandboxConfig) *runtime.PodSandboxConfig {
	later := InterfaceSysctls(config)
	if metadata.GivenNetwork == nil || len(later) == 0 {
		return config
	}
	config = proto.Clone(config).(*runtime.PodSandboxConfig)
	for name := range later {
		delete(config.Linux.Sysctls, name)
	}
	return config
}
