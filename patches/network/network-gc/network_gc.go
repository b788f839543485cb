// SPDX-License-Identifier: Apache-2.0

package networkgc

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NetworkGC frees the addresses of pods that vanished.
var NetworkGC = edit.Patch{
	Slug:    "network-gc",
	Module:  "containerd",
	Subject: "cri: add a setting to run CNI GC at start",
	Body: `The addresses of pods that vanished while containerd was down, for
example because its state folder was deleted, are never freed. CNI 1.1
has GC for that.

Add a setting to run GC once at start, with the attachments that are
still valid, in the background and with a deadline. It is off by
default, because another runtime may use the same networks. New pods
wait for GC, because a plugin would free their addresses, too.

Without the setting, nothing changes. With it, another client that
attaches containers to a network that CRI has loaded loses their
addresses. A pod that is created right after a start may wait 30 seconds
for the plugins.`,
	Refs:   []string{"containernetworking/cni#1178"},
	Rules:  []string{"N3"},
	Status: edit.Upstream,
	Until:  "containerd calls CNI GC at start",
	Needs:  []string{"containerd/network-status"},
	Edits: []edit.Edit{
		containerd.CNIConfig.AddField(`
// NetworkGCOnStart is whether CNI GC runs at start, so that networks of CNI 1.1
// free the resources of pods that no longer exist. Do not set it if another runtime
// uses the same networks: the resources of its pods would be freed.
NetworkGCOnStart bool ` + "`toml:\"gc_on_start\" json:\"gcOnStart\"`"),
		containerd.CNIDefaults.After("      gc_on_start = false"),
		edit.In(containerd.CRIService, edit.Method("criService", "Run")).After(edit.Stmt(edit.Mentions("c.recover(ctrdutil.NamespacedContext())")), `c.collectNetworks()`),
	},
}
