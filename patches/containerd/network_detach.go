// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// NetworkDetach makes a DEL independent of the loaded configuration.
var NetworkDetach = edit.Patch{
	Slug:    "network-detach",
	Module:  "containerd",
	Subject: "cri: detach pods with libcni's cached attachments",
	Body: `Without a network configuration, pods can be neither stopped nor removed, and
never again if it does not come back. If another one has replaced it, their DEL
goes to plugins that never had their ADD, and not to those that did. And if a
plugin of a chain fails its ADD and then its DEL, the plugins before it get no
DEL: the pod is forgotten, and its address is not freed.

libcni caches the configuration and arguments of each ADD until its DEL. Run
DEL with the cached attachment of every interface of the pod, and with the
loaded configuration only for interfaces without one. Run the DEL of each plugin
in a chain whose ADD failed, and give each network a share of the time, so that
one that hangs does not block the others. Where nothing is cached and no network
is loaded, or the plugins of a replaced network are uninstalled, remove the pod
without a successful DEL and log what may have leaked. A pod that is still on
one of its networks is not forgotten, even if the ADD of another one failed.`,
	Refs:   []string{"containerd/containerd#10743", "containerd/containerd#10744", "containerd/containerd#8774", "containerd/containerd#12130"},
	Rules:  []string{"N3"},
	Status: edit.Upstream,
	Until:  "containerd runs DEL with libcni's cached attachments",
	Edits: []edit.Edit{
		edit.In(sandboxStop, edit.Method("criService", "teardownPodNetwork")).
			Replace(edit.Expr("netPlugin.Remove(ctx, id, path, opts...)"), "c.detachPod(ctx, netPlugin, sandbox, path, opts...)"),
		stop.
			Replace(edit.Expr("sandbox.CNIResult != nil"), "sandbox.CNIResult != nil || stillAttached(err)"),
		criMethod(sandboxUndo, "undoNetwork").
			Replace(edit.Expr("sandbox.CNIResult == nil"), "sandbox.CNIResult == nil && !stillAttached(err)"),
	},
}
