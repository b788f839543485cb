// SPDX-License-Identifier: Apache-2.0

package podsandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containerd/log"
	cnins "github.com/containernetworking/plugins/pkg/ns"
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/containerd/containerd/v2/pkg/netns"
)

// setNetworkSysctls sets the sysctls of a spec that belong to the network namespace.
func setNetworkSysctls(ctx context.Context, path string, spec *runtimespec.Spec) error {
	if spec == nil || spec.Linux == nil {
		return nil
	}
	return SetNetworkSysctls(ctx, path, spec.Linux.Sysctl)
}

// SetNetworkSysctls sets those of sysctls that belong to the network namespace at a path.
func SetNetworkSysctls(ctx context.Context, path string, sysctls map[string]string) error {
	files := map[string]string{}
	for name, value := range sysctls {
		file := name
		if !strings.Contains(name, "/") {
			file = strings.ReplaceAll(name, ".", "/")
		}
		if strings.HasPrefix(file, "net/") {
			files[filepath.Join("/proc/sys", file)] = value
		}
	}
	if len(files) == 0 {
		return nil
	}
	return netns.LoadNetNS(path).Do(func(cnins.NetNS) error {
		for file, value := range files {
			if err := setSysctl(ctx, file, value); err != nil {
				return err
			}
		}
		return nil
	})
}

// setSysctl sets a sysctl, unless it has the value. No pod fails if containerd lacks the
// permission, because runc might have it.
func setSysctl(ctx context.Context, file, value string) error {
	now, err := os.ReadFile(file)
	if err == nil && slices.Equal(strings.Fields(string(now)), strings.Fields(value)) {
		return nil
	}
	err = os.WriteFile(file, []byte(value), 0o644)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		log.G(ctx).WithError(err).Warnf("cannot set %s of a pod: it stays %q, as set by the network, not %q", file, now, value)
		return nil
	}
	return err
}

// CanSetNetworkSysctls reports whether containerd itself can set sysctls of a network namespace.
// If /proc/sys is read-only for it, only runc can.
func CanSetNetworkSysctls() bool {
	return unix.Access("/proc/sys/net/ipv4/ip_unprivileged_port_start", unix.W_OK) == nil
}
