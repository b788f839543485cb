// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// podOf returns the pod that content, of /proc/PID/cgroup, names. own is that of this process,
// which must not be in a pod itself. On a node that is a container without a cgroup namespace it
// is: there, all pods of the node would be the pod that the node is in.
func podOf(content, own string) (Pod, error) {
	node, err := podIn(own)
	if err != nil {
		return Pod{}, fmt.Errorf("own cgroup: %w", err)
	}
	if node != (Pod{}) {
		return Pod{}, fmt.Errorf("this node runs in pod %s itself, and has no cgroup namespace to distinguish its own pods", node.UID)
	}
	return podIn(content)
}

// podIn returns the pod of one process. With cgroup v1 each hierarchy has a line, and all lines
// that name a pod must agree.
func podIn(content string) (Pod, error) {
	var pod Pod
	for line := range strings.Lines(content) {
		path, ok := cgroupPath(line)
		if !ok {
			return Pod{}, fmt.Errorf("no line of a cgroup: %q", line)
		}
		folders := strings.Split(path, "/")[1:]
		if slices.Contains(folders, "..") {
			return Pod{}, fmt.Errorf("cgroup %s is outside of the cgroup namespace", path)
		}
		said := podOfPath(folders)
		switch {
		case said == Pod{}:
		case pod == Pod{}:
			pod = said
		case pod != said:
			return Pod{}, fmt.Errorf("its cgroups are of pod %s (container %q) and of pod %s (container %q)",
				pod.UID, pod.Container, said.UID, said.Container)
		}
	}
	return pod, nil
}

// cgroupPath returns the path in a line of /proc/PID/cgroup: "4:cpu,cpuacct:/a/b", "0::/a/b".
func cgroupPath(line string) (string, bool) {
	parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
	return parts[len(parts)-1], len(parts) == 3 && strings.HasPrefix(parts[2], "/")
}

var (
	// A uid as the API server gives it, or the hash of a static pod; systemd has no hyphens.
	podFolder = regexp.MustCompile(`^(?:[a-z0-9-]+-)?pod([0-9a-f]{8}(?:[-_]?[0-9a-f]{4}){3}[-_]?[0-9a-f]{12})(?:\.slice)?$`)
	container = regexp.MustCompile(`^(?:[a-z0-9-]+-)?([0-9a-f]{64})(?:\.scope)?$`)
	classes   = []string{"burstable", "besteffort"}
)

// podOfPath returns the pod that the folders of a cgroup name, outermost first, and the zero
// value if they name none. The kubelet's folder must be where only root can make it: at the top,
// or one level below (its --cgroup-root). Further down, users may make cgroups (systemd's
// user@1000.service), and so may a container below its own.
//
//	/kubepods/burstable/pod<uid>/<container>                                       cgroupfs
//	/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice/
//	        cri-containerd-<container>.scope                                       systemd
//	/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod<uid>.slice/...      with a root
func podOfPath(folders []string) Pod {
	top := slices.IndexFunc(folders[:min(len(folders), 2)], isKubepods)
	if top < 0 {
		return Pod{}
	}
	folders = folders[top+1:]
	if len(folders) > 0 && isClass(folders[0]) {
		folders = folders[1:]
	}
	if len(folders) == 0 {
		return Pod{}
	}
	uid := podFolder.FindStringSubmatch(folders[0])
	if uid == nil {
		return Pod{}
	}
	pod := Pod{UID: strings.ReplaceAll(uid[1], "_", "-")}
	if len(folders) > 1 {
		if id := container.FindStringSubmatch(folders[1]); id != nil {
			pod.Container = id[1]
		}
	}
	return pod
}

// isKubepods reports whether a folder is the kubelet's for all pods.
func isKubepods(folder string) bool {
	name := strings.TrimSuffix(folder, ".slice")
	return name == "kubepods" || name != folder && strings.HasSuffix(name, "-kubepods")
}

// isClass reports whether a folder is that of a QoS class.
func isClass(folder string) bool {
	name := strings.TrimSuffix(folder, ".slice")
	if name != folder {
		name = name[strings.LastIndexByte(name, '-')+1:]
	}
	return slices.Contains(classes, name)
}
