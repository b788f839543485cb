// SPDX-License-Identifier: Apache-2.0

package networkdetach

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NetworkDetachOnce does not run the DEL of a detached pod again.
var NetworkDetachOnce = edit.Patch{
	Slug:    "network-detach-once",
	Module:  "containerd",
	Subject: "cri: run DEL once for a pod that is stopped and removed",
	Body: `The CNI plugins of each pod run again when the pod is removed, and each
time when it is stopped again, as a kubelet does. That takes about 25 ms
for processes that find nothing to do.

Run them again only if the pod's network namespace still exists, or the
DEL has not succeeded. After a restart of containerd, or with another
implementation of go-cni's interface, that is not known, and the DEL
runs.

By CNI's specification a DEL that succeeds has freed all resources. A
plugin that answers with success while its agent is down was run again
at each stop and removal, and could free them then. On a node with such
a plugin, set del_once to false; then nothing changes.`,
	Rules:  []string{"N3"},
	Status: edit.Upstream,
	Until:  "the DEL of a pod that was detached is not run again when it is removed",
	Needs:  []string{"containerd/network-detach"},
	Edits: []edit.Edit{
		containerd.CNIConfig.AddField(`
// NetworkDelOnce is whether a DEL that has succeeded is not run again when its pod is stopped
// again or removed.
NetworkDelOnce bool ` + "`toml:\"del_once\" json:\"delOnce\"`" + `
`),
		containerd.UnixDefaults.After(edit.Key("NetworkDelPatience"), "NetworkDelOnce:             true,"),
		containerd.WindowsDefaults.After(edit.Key("NetworkDelPatience"), "NetworkDelOnce:             true,"),
		containerd.CNIDefaults.After("      del_once = true"),
		containerd.Stop.Replace(edit.Expr("sandbox.NetNS != nil"), "sandbox.NetNS != nil && !(c.config.NetworkDelOnce && isDetached(&sandbox))"),
	},
}
