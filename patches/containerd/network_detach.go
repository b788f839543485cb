// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// NetworkDetach is a DEL that needs no configuration.
var NetworkDetach = edit.Patch{
	Slug:    "network-detach",
	Module:  "containerd",
	Subject: "cri: take pods off their networks with what was kept of the ADD",
	Body: `Without a network configuration, pods can be neither stopped nor removed, for
good if it does not come back. With another one in its place, their DEL is
sent to plugins that never saw them, and not to those that did. And if a plugin
of a chain fails its ADD and then its DEL, the plugins before it get no DEL:
the pod is forgotten, and its address is not freed.

libcni keeps the configuration and arguments of each ADD until its DEL. Run DEL
from there, for every interface of the pod, and from what is loaded only for
interfaces of which nothing is kept. Give each plugin of a chain whose ADD
failed its DEL, and each network a share of the time, so that one that hangs
keeps no other's address. Where nothing is kept and nothing is loaded, or a
network that was replaced has its plugins uninstalled, let the pod go and say
what may have leaked. A pod that is still on one of its networks is not
forgotten, even if the ADD of another one had failed.`,
	Refs:   []string{"containerd/containerd#10743", "containerd/containerd#10744", "containerd/containerd#8774", "containerd/containerd#12130"},
	Rules:  []string{"N3"},
	Status: edit.Upstream,
	Until:  "containerd deletes attachments with what libcni kept of them",
	Edits: []edit.Edit{
		edit.In(sandboxStop, edit.Method("criService", "teardownPodNetwork")).
			Replace(edit.Expr("netPlugin.Remove(ctx, id, path, opts...)"), "c.detachPod(ctx, netPlugin, sandbox, path, opts...)"),
		stop.
			Replace(edit.Expr("sandbox.CNIResult != nil"), "sandbox.CNIResult != nil || stillAttached(err)"),
		run.Replace(edit.Expr("sandbox.CNIResult == nil"), "sandbox.CNIResult == nil && !stillAttached(cleanupErr)"),
	},
}
