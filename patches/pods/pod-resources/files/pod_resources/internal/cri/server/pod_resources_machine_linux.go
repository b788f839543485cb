// SPDX-License-Identifier: Apache-2.0

package server

import (
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
)

// thisMachine returns the CPUs and memory of the node. It counts all CPUs that the kernel
// knows, because containerd itself may be confined to some of them.
var thisMachine = sync.OnceValue(func() (m podresources.Machine) {
	if cpus, err := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*"); err == nil {
		m.CPUs = int64(len(cpus))
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		m.Memory = int64(uint64(info.Totalram) * uint64(info.Unit)) //nolint:unconvert // it has 32 bits on some machines
	}
	return m
})
