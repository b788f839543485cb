// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// NetworkGC frees addresses of pods that vanished.
var NetworkGC = edit.Patch{
	Slug:    "network-gc",
	Module:  "containerd",
	Subject: "cri: collect the garbage of networks at start, where wanted",
	Body: `Addresses of pods that vanished while containerd was down, with a deleted state
folder for one, stay taken for good. CNI 1.1 has a verb for it.

Add a setting, off by default since another runtime may use the same networks,
that has it called once at start with the attachments that are still valid,
in the background and with a deadline. The first pods wait for it, as a plugin
would free what is theirs.`,
	Refs:   []string{"containernetworking/cni#1178"},
	Rules:  []string{"N3"},
	Status: edit.Upstream,
	Until:  "containerd calls CNI GC at start",
	Edits: []edit.Edit{
		cniConfig.AddField(`
// NetworkGCOnStart is whether networks of CNI 1.1 free, at start, what they hold
// for pods that are gone. It is not for nodes on which another runtime uses the
// same networks: what its pods hold would be freed.
NetworkGCOnStart bool ` + "`toml:\"gc_on_start\" json:\"gcOnStart\"`"),
		edit.In(criService, edit.Method("criService", "Run")).After(edit.Stmt(edit.Mentions("c.recover(ctrdutil.NamespacedContext())")), `c.collectNetworks()`),
	},
}
