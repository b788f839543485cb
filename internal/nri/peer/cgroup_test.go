// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	uid       = "5f8e1a52-7c0b-4b8e-9d0e-2f6c3a1b9d47"
	staticUID = "0123456789abcdef0123456789abcdef"
)

var (
	inSystemd = strings.ReplaceAll(uid, "-", "_")
	id        = strings.Repeat("c0ffee00", 8)
)

func TestPodOf(t *testing.T) {
	const host = "0::/system.slice/containerd.service\n"
	pod := Pod{UID: uid, Container: id}
	for _, test := range []struct {
		name, content, own, wantErr string
		want                        Pod
	}{
		{name: "cgroupfs, guaranteed", content: "0::/kubepods/pod" + uid + "/" + id, want: pod},
		{name: "cgroupfs, burstable", content: "0::/kubepods/burstable/pod" + uid + "/" + id, want: pod},
		{name: "cgroupfs, best effort", content: "0::/kubepods/besteffort/pod" + uid + "/" + id, want: pod},
		{name: "cgroupfs, with a root", content: "0::/kubelet/kubepods/burstable/pod" + uid + "/" + id, want: pod},
		{name: "systemd, guaranteed", content: "0::/kubepods.slice/kubepods-pod" + inSystemd + ".slice/cri-containerd-" + id + ".scope", want: pod},
		{name: "systemd, burstable", content: "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + inSystemd + ".slice/cri-containerd-" + id + ".scope", want: pod},
		{name: "systemd, with a root", content: "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod" + inSystemd + ".slice/cri-containerd-" + id + ".scope", want: pod},
		{name: "CRI-O", content: "0::/kubepods.slice/kubepods-pod" + inSystemd + ".slice/crio-" + id + ".scope/container", want: pod},
		{name: "static pod", content: "0::/kubepods/burstable/pod" + staticUID + "/" + id, want: Pod{staticUID, id}},
		{name: "static pod, systemd", content: "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + staticUID + ".slice/cri-containerd-" + id + ".scope", want: Pod{staticUID, id}},
		{name: "the pod's own cgroup", content: "0::/kubepods/burstable/pod" + uid, want: Pod{UID: uid}},
		{name: "no container", content: "0::/kubepods/burstable/pod" + uid + "/something", want: Pod{UID: uid}},
		{name: "below the container", content: "0::/kubepods/burstable/pod" + uid + "/" + id + "/init.scope", want: pod},
		{name: "pods of a node in the container are not of this one",
			content: "0::/kubepods/burstable/pod" + uid + "/" + id + "/kubepods/pod" + staticUID + "/" + id, want: pod},
		{name: "v1", content: "11:memory:/kubepods/burstable/pod" + uid + "/" + id + "\n2:cpu,cpuacct:/kubepods/burstable/pod" + uid + "/" + id + "\n1:name=systemd:/kubepods/burstable/pod" + uid + "/" + id + "\n", want: pod},
		{name: "v1 and v2", content: "11:memory:/kubepods.slice/kubepods-pod" + inSystemd + ".slice/cri-containerd-" + id + ".scope\n0::/\n", want: pod},
		{name: "a colon in the path", content: "0::/kubepods/pod" + uid + "/" + id + "/a:b\n", want: pod},

		{name: "service of the host", content: "0::/system.slice/plugin.service\n"},
		{name: "root", content: "0::/\n"},
		{name: "container without a pod", content: "0::/k8s.io/" + id + "\n"},
		{name: "the kubelet's own", content: "0::/kubepods.slice\n"},
		{name: "class of service", content: "0::/kubepods/burstable\n"},
		{name: "another name", content: "0::/kubepods/burstable/podium/" + id + "\n"},
		// Cgroups that others than root may make, below their own.
		{name: "made by a user", content: "0::/user.slice/user-1000.slice/user@1000.service/kubepods/pod" + uid + "/" + id + "\n"},
		{name: "made by a service", content: "0::/system.slice/plugin.service/kubepods/pod" + uid + "/" + id + "\n"},
		{name: "made in a container", content: "0::/docker/" + id + "/kubepods/pod" + uid + "/" + id + "\n"},

		{name: "two pods", content: "2:cpu:/kubepods/pod" + uid + "/" + id + "\n1:pids:/kubepods/pod" + staticUID + "/" + id + "\n",
			wantErr: "its cgroups are of pod " + uid},
		{name: "two containers", content: "2:cpu:/kubepods/pod" + uid + "/" + id + "\n1:pids:/kubepods/pod" + uid + "\n",
			wantErr: `and of pod ` + uid + ` (container "")`},
		{name: "outside", content: "0::/../kubepods/pod" + uid + "/" + id + "\n", wantErr: "is outside of the cgroup namespace"},
		{name: "no path", content: "0:\n", wantErr: `no line of a cgroup: "0:\n"`},
		{name: "node in a pod", content: "0::/kubepods/pod" + uid + "/" + id + "/kubelet/kubepods/pod" + staticUID + "/" + id,
			own: "0::/kubepods/pod" + uid + "/" + id + "/system.slice/containerd.service\n", wantErr: "this node runs in pod " + uid},
	} {
		t.Run(test.name, func(t *testing.T) {
			own := test.own
			if own == "" {
				own = host
			}
			got, err := podOf(test.content, own)
			if test.wantErr != "" {
				require.ErrorContains(t, err, test.wantErr)
				require.Zero(t, got)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestUnitOf(t *testing.T) {
	for content, want := range map[string]string{
		"0::/system.slice/plugin.service\n":                                              "/system.slice/plugin.service",
		"0::/system.slice/plugin.service/worker\n":                                       "/system.slice/plugin.service",
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/plugin.service\n":    "/user.slice/user-1000.slice/user@1000.service/app.slice/plugin.service",
		"0::/system.slice/docker-" + id + ".scope\n":                                     "/system.slice/docker-" + id + ".scope",
		"0::/system.slice/plugin.service/libpod-payload-" + id + "\n":                    "/system.slice/plugin.service",
		"0::/docker/" + id + "\n":                                                        "/docker/" + id,
		"2:cpu:/system.slice\n1:name=systemd:/system.slice/plugin.service\n0::/\n":       "/system.slice/plugin.service",
		"0::/user.slice/user-1000.slice/session-3.scope\n":                               "",
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope\n": "",
		"0::/../system.slice/plugin.service\n":                                           "",
		"0::/\n":                                                                         "",
		"nonsense\n":                                                                     "",
	} {
		require.Equal(t, want, unitOf(content), content)
	}
}
