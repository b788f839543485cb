// SPDX-License-Identifier: Apache-2.0

package networkdetach

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NetworkDetachOnce does not detach a pod again whose network is gone.
var NetworkDetachOnce = edit.Patch{
	Slug:    "network-detach-once",
	Module:  "containerd",
	Subject: "cri: run DEL once for a pod that is stopped and removed",
	Body: `The CNI plugins of each pod are run again when it is removed, and each time when it
is stopped again, as a kubelet does: about 25 ms for processes that find nothing.

Run them again only if the pod's network namespace is still there, or the DEL has not
succeeded. After a restart of containerd that is not known, and the DEL is run. So it is
with another implementation of go-cni's interface.

By CNI's specification a DEL that succeeds has freed what there was to free. A plugin
that answers so while its agent is down was asked again at each stop and removal, and
could free it then. A node with such a plugin sets del_once to false, and all is as
before.`,
	Rules:  []string{"N3"},
	Status: edit.Upstream,
	Until:  "the DEL of a pod that was detached is not run again when it is removed",
	Needs:  []string{"containerd/network-detach"},
	Edits: []edit.Edit{
		containerd.CNIConfig.AddField(`
// NetworkDelOnce is whether the DEL of a pod that has succeeded is not run again when the pod is
// stopped again or removed.
NetworkDelOnce bool ` + "`toml:\"del_once\" json:\"delOnce\"`" + `
`),
		containerd.UnixDefaults.After(edit.Key("NetworkDelPatience"), "NetworkDelOnce:             true,"),
		containerd.WindowsDefaults.After(edit.Key("NetworkDelPatience"), "NetworkDelOnce:             true,"),
		containerd.CNIDefaults.After("      del_once = true"),
		containerd.Stop.Replace(edit.Expr("sandbox.NetNS != nil"), "sandbox.NetNS != nil && !(c.config.NetworkDelOnce && isDetached(&sandbox))"),
	},
}
