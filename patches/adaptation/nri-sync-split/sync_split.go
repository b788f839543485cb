// SPDX-License-Identifier: Apache-2.0

package nrisyncsplit

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// SyncSplit splits Synchronize down to a single pod or container, if it must.
var SyncSplit = edit.Patch{
	Slug:    "sync-split",
	Module:  "nri",
	Subject: "adaptation: split a Synchronize to the last object",
	Body: `A runtime panics when a plugin joins a node whose pods and containers are
large, and again each time the plugin reconnects. If Synchronize does not fit in
a message, it is split into several, with at least four pods and four containers
each, even if fewer are left: nine pods of 600 KiB without a container are
enough for the panic. If eight objects or fewer do not fit, the synchronization
fails, though half of them would fit: the plugin cannot join as long as they
exist. A container gets that large if its environment comes from ConfigMaps.
Kubernetes allows 256 KiB of annotations in a pod, other clients may set more.

Send as many objects as fit, down to a single one: half of the objects in the
message that was rejected, or fewer in proportion to its size. Pods go before
containers, so that a message is empty only if nothing is left, and never has
more objects than are left. If a pod or container does not fit in a message of
its own, the plugin still fails. The error has the object, its size and the
limit.`,
	Refs:   []string{"containerd/nri#102", "containerd/nri#111"},
	Rules:  []string{"L2", "L13", "L17"},
	Status: edit.Upstream,
	Until:  "NRI splits a Synchronize to single objects, and never takes more of them than are left",
	Edits: []edit.Edit{
		edit.In(nri.PluginFile, edit.Method("plugin", "synchronize")).Replace(
			edit.Stmt(edit.If("podsPerMsg > len(podsToSend)")).And(1),
			`podsPerMsg, ctrsPerMsg = syncPart(podsPerMsg+ctrsPerMsg, len(podsToSend), len(ctrsToSend))`),
		edit.In(nri.PluginFile, edit.Method("plugin", "synchronize")).Replace(
			edit.Expr("recalcObjsPerSyncMsg(podsPerMsg, ctrsPerMsg, err)"),
			`smallerSyncPart(podsToSend[:podsPerMsg], ctrsToSend[:ctrsPerMsg], err)`),
		edit.In(nri.PluginFile, edit.Func("recalcObjsPerSyncMsg")).Drop(),
		edit.DropImport(nri.PluginFile, "google.golang.org/grpc/codes"),
		edit.DropImport(nri.PluginFile, "google.golang.org/grpc/status"),
	},
}
