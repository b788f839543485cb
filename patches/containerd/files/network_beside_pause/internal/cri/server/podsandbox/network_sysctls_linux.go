// SPDX-License-Identifier: Apache-2.0

package podsandbox

import (
	"os"
	"path/filepath"
	"strings"

	cnins "github.com/containernetworking/plugins/pkg/ns"
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/containerd/containerd/v2/pkg/netns"
)

// setNetworkSysctls sets the sysctls of a spec that are of a network namespace.
func setNetworkSysctls(path string, spec *runtimespec.Spec) error {
	files := map[string]string{}
	if spec != nil && spec.Linux != nil {
		for name, value := range spec.Linux.Sysctl {
			if file := strings.ReplaceAll(name, ".", "/"); strings.HasPrefix(file, "net/") {
				files[filepath.Join("/proc/sys", file)] = value
			}
		}
	}
	if len(files) == 0 {
		return nil
	}
	return netns.LoadNetNS(path).Do(func(cnins.NetNS) error {
		for file, value := range files {
			if err := os.WriteFile(file, []byte(value), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
}
