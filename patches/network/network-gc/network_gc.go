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
	Body: `The addresses of pods that vanished while containerd was down, because its
state folder was deleted for instance, are never freed. CNI 1.1 has GC for it.

Add a setting, off by default since another runtime may use the same networks,
to run GC once at start with the attachments that are still valid, in the
background and with a deadline. New pods wait for it, as a plugin would free
their addresses too.

Without the setting nothing differs. With it, a client that attaches containers
to a network that CRI has loaded loses their addresses. A pod that is created
right after a start may wait 30 seconds for the plugins.`,
	Refs:   []string{"containernetworking/cni#1178"},
	Rules:  []string{"N3"},
	Status: edit.Upstream,
	Until:  "containerd calls CNI GC at start",
	Needs:  []string{"containerd/network-status"},
	Edits: []edit.Edit{
		containerd.CNIConfig.AddField(`
// NetworkGCOnStart is whether CNI GC runs at start, so that networks of CNI 1.1
// free the resources of pods that are gone. It is not for nodes on which another
// runtime uses the same networks: the resources of its pods would be freed.
NetworkGCOnStart bool ` + "`toml:\"gc_on_start\" json:\"gcOnStart\"`"),
		containerd.CNIDefaults.After("      gc_on_start = false"),
		edit.In(containerd.CRIService, edit.Method("criService", "Run")).After(edit.Stmt(edit.Mentions("c.recover(ctrdutil.NamespacedContext())")), `c.collectNetworks()`),
	},
}
