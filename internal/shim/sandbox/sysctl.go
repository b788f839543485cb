// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// ofNamespace are the sysctls that belong to a namespace, by their names with dots, or the
// beginning of them. These are the ones that OCI runtimes accept: all others would change the node.
var ofNamespace = map[specs.LinuxNamespaceType][]string{
	specs.IPCNamespace: {
		"kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.sem",
		"kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "fs.mqueue.*",
	},
	specs.UTSNamespace:     {"kernel.domainname"}, // the hostname is a field of its own
	specs.NetworkNamespace: {"net.*"},
}

// sysctlPath returns the path of a sysctl below /proc/sys, and the kind of namespace that it
// belongs to. A name is separated by dots or by slashes, whichever comes first. With slashes, dots
// are part of its names: net/ipv4/conf/eth0.1/forwarding.
func sysctlPath(name string) (string, specs.LinuxNamespaceType, error) {
	path := name
	if at := strings.IndexAny(name, "./"); at >= 0 && name[at] == '.' {
		path = strings.NewReplacer(".", "/", "/", ".").Replace(name)
	}
	if !filepath.IsLocal(path) || path != filepath.Clean(path) {
		return "", "", fmt.Errorf("the name of sysctl %q is not valid", name)
	}
	dotted := strings.ReplaceAll(path, "/", ".")
	for kind, names := range ofNamespace {
		if slices.ContainsFunc(names, func(n string) bool {
			prefix, all := strings.CutSuffix(n, "*")
			return dotted == n || all && strings.HasPrefix(dotted, prefix)
		}) {
			return path, kind, nil
		}
	}
	return "", "", fmt.Errorf("sysctl %q belongs to no namespace of the pod", name)
}

// sortSysctls returns the values of sysctls by their paths below /proc/sys, for each kind of
// namespace. One that belongs to none, or to one that the pod shares with the node, is an error.
func sortSysctls(sysctls map[string]string, own map[specs.LinuxNamespaceType]bool) (map[specs.LinuxNamespaceType]map[string]string, error) {
	sorted := map[specs.LinuxNamespaceType]map[string]string{}
	for name, value := range sysctls {
		path, kind, err := sysctlPath(name)
		if err != nil {
			return nil, err
		}
		if !own[kind] {
			return nil, fmt.Errorf("sysctl %q needs a %s namespace of the pod's own", name, kind)
		}
		if sorted[kind] == nil {
			sorted[kind] = map[string]string{}
		}
		sorted[kind][path] = value
	}
	return sorted, nil
}

// setSysctls sets sysctls in the namespaces of the thread, which must end after that: where /proc/sys
// is read-only, as with systemd's ProtectKernelTunables, the thread mounts a /proc for itself.
func setSysctls(values map[string]string) error {
	err := writeSysctls(values)
	if !errors.Is(err, unix.EROFS) {
		return err
	}
	if err := ownProc(); err != nil {
		return fmt.Errorf("mount /proc to set sysctls: %w", err)
	}
	return writeSysctls(values)
}

func writeSysctls(values map[string]string) error {
	for path, value := range values {
		if err := os.WriteFile(filepath.Join("/proc/sys", path), []byte(value), 0); err != nil {
			return fmt.Errorf("set sysctl: %w", err)
		}
	}
	return nil
}

// ownProc mounts a /proc that only the thread sees.
func ownProc() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}
