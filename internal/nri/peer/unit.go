// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"slices"
	"strings"
)

// unitOf returns the unit of the host that restarts a process when it exits, by the content of
// /proc/PID/cgroup: the path of a service of systemd, or of a container. It is empty for a
// process of a session, which is not restarted.
//
//	/system.slice/plugin.service
//	/user.slice/user-1000.slice/user@1000.service/app.slice/plugin.service
//	/system.slice/docker-<container>.scope, /docker/<container>
func unitOf(content string) string {
	unit := ""
	for line := range strings.Lines(content) {
		path, ok := cgroupPath(line)
		if !ok {
			continue
		}
		folders := strings.Split(path, "/")
		// The outermost: a service may have a container made anew each time that it starts.
		first := slices.IndexFunc(folders, startsAgain)
		if first < 0 || slices.Contains(folders, "..") {
			continue
		}
		// With cgroup v1 some hierarchies may have less of the path than others.
		if found := strings.Join(folders[:first+1], "/"); len(found) > len(unit) {
			unit = found
		}
	}
	return unit
}

// startsAgain reports whether a folder is that of a service, or of a container. That of a user's
// own systemd is neither: everything that the user runs is below it.
func startsAgain(folder string) bool {
	return strings.HasSuffix(folder, ".service") && !strings.HasPrefix(folder, "user@") || container.MatchString(folder)
}
