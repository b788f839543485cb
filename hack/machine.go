// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// machine returns a line with the properties of the machine that affect measurements.
func machine() string {
	return fmt.Sprintf("kernel %s, %d processors, cgroup %s, rcu_expedited %s, load %s before",
		firstWord("/proc/sys/kernel/osrelease"), runtime.NumCPU(), cgroupVersion(),
		firstWord("/sys/kernel/rcu_expedited"), firstWord("/proc/loadavg"))
}

// cgroupVersion returns the version of the hierarchy that has the controllers.
func cgroupVersion() string {
	var fs unix.Statfs_t
	if err := unix.Statfs("/sys/fs/cgroup", &fs); err != nil {
		return "unknown"
	}
	version := "v1"
	if fs.Type == unix.CGROUP2_SUPER_MAGIC {
		version = "v2"
	}
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	if err == nil && favorDynmods(mounts) {
		version += " (favordynmods)"
	}
	return version
}

// favorDynmods reports whether processes are moved into cgroups without a wait for all
// processors: it is an option of the mount, and holds for all hierarchies.
func favorDynmods(mounts []*mountinfo.Info) bool {
	return slices.ContainsFunc(mounts, func(m *mountinfo.Info) bool {
		return slices.Contains(strings.Split(m.VFSOptions, ","), "favordynmods")
	})
}

// firstWord returns the first word of a file of the kernel: of /proc/loadavg, the load over the
// last minute.
func firstWord(file string) string {
	content, err := os.ReadFile(file)
	words := strings.Fields(string(content))
	if err != nil || len(words) == 0 {
		return "unknown"
	}
	return words[0]
}
