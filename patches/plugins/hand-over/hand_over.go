// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// HandOver lets the operator allow two plugins of one name beside each other.
var HandOver = edit.Patch{
	Slug:    "hand-over",
	Module:  "containerd",
	Subject: "nri: let settings allow two plugins of one name",
	Body: `A node cannot run two NRI plugins of one name on purpose, and rely on
both receiving each pod: a plugin that registers under the index and
name of a connected plugin takes over from it.

Add a setting by plugin that allows this. Add the reason "replaced" to
the metric of disconnects. Show in the status of NRI which connection is
about to take over from another one, and which one waits for its
successor to leave.`,
	Rules:  []string{"L17", "L19"},
	Status: edit.Upstream,
	Until:  "containerd has a setting for NRI plugins that may be connected twice",
	Needs:  []string{"nri/hand-over", "containerd/nri-plugin-names"},
	Edits: []edit.Edit{
		edit.In(containerd.PluginConfig, edit.Type("PluginConfig")).AddField(`

// AllowDuplicates is whether two plugins of this name may be connected and serve beside each
// other. If false, a plugin that registers takes over from the connected one, unless containerd
// launched the connected one from plugin_path.
AllowDuplicates bool ` + "`toml:\"allow_duplicates\" json:\"allowDuplicates\"`"),
		edit.In(containerd.PluginConfig, edit.Method("Config", "pluginSettings")).After(edit.Key("SyncTimeout"), "AllowDuplicates:       p.AllowDuplicates,"),
		edit.In("internal/nri/status.go", edit.Type("PluginStatus")).AddField(`
// TakesOver is whether the plugin is about to take over from another one of its name, or
// waits for its successor to leave.
TakesOver bool ` + "`json:\"takesOver,omitempty\"`"),
		edit.In("internal/nri/status.go", edit.Func("pluginStatus")).After(edit.Key("Synchronized"), "TakesOver:     p.TakesOver,"),
		edit.In("internal/nri/lifecycle_metrics.go", edit.Func("init")).Replace(edit.Expr(`"Disconnects of NRI plugins, by reason: closed (by the plugin, or because containerd stops), or why containerd disconnected it: timeout, backlog or error"`),
			`"Disconnects of NRI plugins, by reason: closed (by the plugin, or because containerd stops), replaced (a newer connection of the plugin has taken over), or why containerd disconnected it: timeout, backlog or error"`),
	},
}
