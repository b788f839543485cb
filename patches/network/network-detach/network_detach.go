// SPDX-License-Identifier: Apache-2.0

package networkdetach

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NetworkDetach makes a DEL independent of the loaded configuration.
var NetworkDetach = edit.Patch{
	Slug:    "network-detach",
	Module:  "containerd",
	Subject: "cri: detach pods with libcni's cached attachments",
	Body: `Without a network configuration, pods can be neither stopped nor
removed. If another configuration has replaced it, their DEL goes to
plugins that never received their ADD, and not to those that did. If a
plugin of a chain fails its ADD and then its DEL, the plugins before it
receive no DEL: the pod is forgotten, and its address is not freed.

libcni caches the configuration and arguments of each ADD until its DEL.
Run DEL with the cached attachment of every interface of the pod, and
with the loaded configuration only for interfaces without one. Run the
DEL of each plugin in a chain whose ADD failed. Give each network a
share of the time, so that a network that hangs does not block the
others.

Remove the pod without a successful DEL, and log the addresses that may
have leaked, if nothing is cached and no network is loaded, or if the
plugins of a replaced network are uninstalled. If these plugins are
installed and fail, do so only after a time that is a setting and goes
on over restarts. A pod that is still on one of its networks is not
forgotten, even if the ADD of another one failed.

Plugins received DEL with the loaded configuration. Now they receive the
one of their ADD, and if that fails, the loaded one of the same name, as
before. go-cni took "not found" in any text for success; now only in a
CNI error. With several networks each DEL has a share of the time, where
one could use all of it. A pod that lost its namespace and its cached
attachments in a boot gets DEL with the loaded configuration, until that
succeeds or the time of the setting is over. An unpatched containerd
finds the same cache after a downgrade.`,
	Refs:   []string{"containerd/containerd#10743", "containerd/containerd#10744", "containerd/containerd#8774", "containerd/containerd#12130"},
	Rules:  []string{"N3"},
	Status: edit.Upstream,
	Until:  "containerd runs DEL with libcni's cached attachments",
	Needs:  []string{"containerd/undo-in-order", "containerd/network-attach"},
	Edits: []edit.Edit{
		containerd.StoredStatus.AddField(`
// DetachFailing is since when the CNI DEL of the sandbox has failed, zero if it has
// not.
DetachFailing time.Time
// Detached is whether the CNI DEL of the sandbox has succeeded since containerd was started.
Detached bool`),
		containerd.RecoverAll.Before(edit.Stmt(edit.Call("c.ImageService.CheckImages")), `c.recoverDetachFailing(ctx, storedSandboxes)
`),
		containerd.CNIConfig.AddField(`
// NetworkDelPatience is how long the DEL of a pod is retried, as a duration, if
// another network has replaced the pod's network and the plugins of the latter
// fail. After that the pod is removed without a successful DEL.
NetworkDelPatience string ` + "`toml:\"del_patience\" json:\"delPatience\"`"),
		containerd.CNIDefaults.After("      del_patience = '5m0s'"),
		containerd.UnixDefaults.After(edit.Key("NetworkStatusTimeout"), delDefaults),
		containerd.WindowsDefaults.After(edit.Key("NetworkStatusTimeout"), delDefaults),
		containerd.ValidateConfig.Before(edit.Stmt(edit.If(`c.DrainExecSyncIOTimeout != ""`)), `if _, err := c.NetworkDelTime(); err != nil {
	return warnings, err
}
`),
		edit.In(containerd.SandboxStop, edit.Method("criService", "teardownPodNetwork")).
			Replace(edit.Expr("netPlugin.Remove(ctx, id, path, opts...)"), "c.detachPod(ctx, netPlugin, sandbox, path, opts...)"),
		containerd.Stop.
			Replace(edit.Expr("sandbox.CNIResult != nil"), "sandbox.CNIResult != nil || stillAttached(err)"),
		containerd.CRIMethod("internal/cri/server/sandbox_undo.go", "undoNetwork").
			Replace(edit.Expr("sandbox.CNIResult == nil"), "sandbox.CNIResult == nil && !stillAttached(err)"),
	},
}

const delDefaults = `NetworkDelPatience:         DefaultNetworkDelPatience.String(),`
