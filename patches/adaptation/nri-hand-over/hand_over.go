// SPDX-License-Identifier: Apache-2.0

package nrihandover

import "github.com/hookline-nri/hookline/internal/edit"

// HandOver has a plugin that registers again succeed itself.
var HandOver = edit.Patch{
	Slug:    "hand-over",
	Module:  "nri",
	Subject: "adaptation: let a plugin that registers again take over",
	Body: `A plugin is replaced by one that is started before the old one is stopped, as a
DaemonSet does with maxSurge, so that there is one at any time. For as long as both are
there each of them is told of every event: two allocate for the same pod. If the old
one does not go, that stays so for good. And if the old one is stopped first, pods come
up without any.

Take a connection for the successor of the one that is there under its index and name.
It is synchronized with what that one knows, while what comes waits for half a request
timeout; then all events turn to it in one instant, with what waited, and the old
connection is closed. A successor that takes longer is synchronized while the old one
is sent events, and told of those late. One that fails changes nothing.

A plugin that is told to go and is started again by whoever watches over it must not
take its place back: from the pod, service, container or process of a connection that was
succeeded, another one waits until its successor has left.

Plugins that mean to be connected twice under one name need a setting for that
(PluginSettings.AllowDuplicates). Plugins that the runtime itself has launched or loaded are
never succeeded.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L17", "L19"},
	Status: edit.Upstream,
	Until:  "NRI hands the events of a plugin over to the connection that it opens next",
	Needs:  []string{"nri/plugin-peer", "nri/creation-journal", "nri/delivery-metrics"},
	Edits: []edit.Edit{
		edit.In("pkg/adaptation/plugin_settings.go", edit.Type("PluginSettings")).AddField(`

// AllowDuplicates has all connections of the name served beside each other. Otherwise one
// that registers takes over from the one that is there.
AllowDuplicates bool`),
		edit.In("pkg/adaptation/engine.go", edit.Method("Adaptation", "newEngine")).After(edit.Key("OmitCreating"), `HandOver:       r.handsOver,
Origin:         originOf,
Begun:          begun,`),
		edit.In("pkg/adaptation/status.go", edit.Type("PluginStatus")).AddField(`

// TakesOver is whether it is to take over from another one of its name, or waits for
// one to leave that has taken over from it.
TakesOver bool`),
		edit.In("pkg/adaptation/status.go", edit.Method("Adaptation", "PluginStatus")).After(edit.Key("Synchronized"), "TakesOver:    c.TakesOver,"),
		edit.In("pkg/adaptation/lifecycle_metrics.go", edit.Func("leaveReason")).Before(edit.Top(), `if errors.Is(err, lifecycle.ErrSucceeded) {
	return "replaced"
}
`),
		edit.In("pkg/adaptation/lifecycle_metrics.go", edit.Type("LifecycleMetrics")).Comment(edit.Field("RecordLeave"), `// RecordLeave is called when a plugin is gone. reason is "closed" if it
// went by itself or the runtime stops, "replaced" if it registered again and the
// new connection has taken over, otherwise why it was dropped: "timeout",
// "backlog" or "error".`),
	},
}
