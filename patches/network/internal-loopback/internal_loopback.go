// SPDX-License-Identifier: Apache-2.0

package internalloopback

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// InternalLoopback brings up the loopback interface of pods without starting a process.
var InternalLoopback = edit.Patch{
	Slug:    "internal-loopback",
	Module:  "containerd",
	Subject: "cri: bring up the loopback interface of pods without a plugin",
	Body: `Each pod starts the CNI plugin loopback twice or more, for its ADD and
each of its DELs, to set one flag of an interface. That takes about 10
ms each time.

containerd can set the flag by itself if use_internal_loopback is true,
which exists since v2.0. Make true the default. With false, nothing
changes. Pods that have their loopback interface from the plugin receive
its DEL from libcni's cache.

The kubelet does not read the result of the loopback. crictl inspectp no
longer shows lo in cniResult. A program that replaces the plugin
loopback is not run. Windows and pods on the host's network see no
change. After a downgrade new pods need the plugin again.`,
	Refs:   []string{"containerd/containerd#10238", "containerd/containerd#10244"},
	Rules:  []string{"N3"},
	Status: edit.Upstream,
	Until:  "use_internal_loopback is true by default",
	Needs:  []string{"containerd/network-detach"},
	Edits: []edit.Edit{
		containerd.UnixDefaults.Replace(edit.Key("UseInternalLoopback"), "UseInternalLoopback:        true,"),
		containerd.CNIDefaults.Swap("use_internal_loopback = false", "use_internal_loopback = true"),
		edit.InSection("docs/cri/config.md", "Full configuration", `ip_pref = "ipv4"`).
			Swap("use_internal_loopback = false", "use_internal_loopback = true"),
	},
}
