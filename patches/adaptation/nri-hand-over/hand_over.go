// SPDX-License-Identifier: Apache-2.0

package nrihandover

import "github.com/hookline-nri/hookline/internal/edit"

// HandOver lets a plugin that registers again take over from its first connection.
var HandOver = edit.Patch{
	Slug:    "hand-over",
	Module:  "nri",
	Subject: "adaptation: let a plugin that registers again take over",
	Body: `If the update of a plugin starts the new one before it stops the old one, as a
DaemonSet does with maxSurge, both receive every event: both allocate for the
same pod. If the old one does not stop, this never ends. And if the update stops
the old one first, pods start without any plugin meanwhile.

Treat a connection as the successor of the one that is connected under its index
and name. It is synchronized with the pods and containers that the old one
knows. Meanwhile new events wait, for half a request timeout. Then the successor
receives all events from one instant on, including those that waited, and the
old connection is closed. If the successor needs longer for Synchronize, the old
one receives events meanwhile, and the successor receives those late. A
successor that fails changes nothing.

When its connection is closed, the old plugin may be started again, and must not
take its place back. So a connection waits until the successor has left, if it
comes from the same pod, service, container or process as the old one.

A plugin that is connected twice under one name on purpose needs a setting for
that (PluginSettings.AllowDuplicates). Plugins that the runtime itself has
launched or loaded have no successors.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L17", "L19"},
	Status: edit.Upstream,
	Until:  "NRI hands the events of a plugin over to its next connection",
	Needs:  []string{"nri/plugin-peer", "nri/creation-journal", "nri/delivery-metrics"},
	Edits: []edit.Edit{
		edit.In("pkg/adaptation/plugin_settings.go", edit.Type("PluginSettings")).AddField(`

// AllowDuplicates serves all connections of the name beside each other. Otherwise a new
// connection takes over from the connected one.
AllowDuplicates bool`),
		edit.In("pkg/adaptation/engine.go", edit.Method("Adaptation", "newEngine")).After(edit.Key("OmitCreating"), `HandOver:       r.handsOver,
Origin:         originOf,
Begun:          begun,`),
		edit.In("pkg/adaptation/status.go", edit.Type("PluginStatus")).AddField(`

// TakesOver is whether the plugin is about to take over from another one of its name,
// or waits until its own successor leaves.
TakesOver bool`),
		edit.In("pkg/adaptation/status.go", edit.Method("Adaptation", "PluginStatus")).After(edit.Key("Synchronized"), "TakesOver:    c.TakesOver,"),
		edit.In("pkg/adaptation/lifecycle_metrics.go", edit.Func("leaveReason")).Before(edit.Top(), `if errors.Is(err, lifecycle.ErrSucceeded) {
	return "replaced"
}
`),
		edit.In("pkg/adaptation/lifecycle_metrics.go", edit.Type("LifecycleMetrics")).Comment(edit.Field("RecordLeave"), `// RecordLeave is called when a plugin has left. reason is "closed" if the plugin
// disconnected by itself or the runtime stops, "replaced" if it registered again
// and the new connection has taken over, otherwise why it was dropped: "timeout",
// "backlog" or "error".`),
	},
}
