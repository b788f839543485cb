// SPDX-License-Identifier: Apache-2.0

package internalloopback

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// InternalLoopback brings up the loopback interface of pods without a process.
var InternalLoopback = edit.Patch{
	Slug:    "internal-loopback",
	Module:  "containerd",
	Subject: "cri: bring up the loopback interface of pods without a plugin",
	Body: `For each pod the CNI plugin loopback is started twice or more, for its ADD and each
of its DELs, to set one flag of an interface: about 10 ms each time.

containerd can set it by itself, which use_internal_loopback asks for since v2.0. Let
that be the default. With false all is as before. Pods that have their loopback
interface from the plugin get its DEL from libcni's cache.

The kubelet does not read the result of the loopback. crictl inspectp shows
no lo in cniResult any more. A program in place of the plugin loopback is not
run. Windows and pods on the host's network see no change. After a downgrade
new pods need the plugin again.`,
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
