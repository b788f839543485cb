// SPDX-License-Identifier: Apache-2.0

package nrisyncsplit

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// SyncSplit splits what there is to the last pod and container, if it must.
var SyncSplit = edit.Patch{
	Slug:    "sync-split",
	Module:  "nri",
	Subject: "adaptation: split a Synchronize to the last object",
	Body: `A runtime panics when a plugin joins a node whose pods and containers are
large, and again whenever the plugin comes back. A Synchronize that does not
fit in a message goes in several, of four pods and four containers at least,
also where there are fewer: nine pods of 600 KiB without a container are
enough. Eight objects or fewer that do not fit are given up, though half
of them would: the plugin cannot join as long as they are there. Containers
get that large by an environment that comes from ConfigMaps, and pods by
annotations of other clients than Kubernetes, which allows 256 KiB of them.

Send as many as fit, down to a single one: half of those in the message that
was rejected, or fewer in proportion to its size. Pods go before containers,
so that a message is empty only if nothing is left, and never takes more than
there is. A pod or container that does not fit in a message of its own still
fails the plugin, by an error that says which it is, how large, and what the
limit is.`,
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
