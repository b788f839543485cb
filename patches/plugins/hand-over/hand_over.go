// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// HandOver lets the operator have plugins of one name served beside each other.
var HandOver = edit.Patch{
	Slug:    "hand-over",
	Module:  "containerd",
	Subject: "nri: let settings have two plugins of one name",
	Body: `An NRI plugin that registers under the index and name of one that is there takes
over from it. Some node may run two of one name on purpose, and rely on both being told
of each pod.

Let the settings of a plugin say so. Say of the disconnects that are counted which are
those of a plugin that was replaced, and show in the status of NRI which
connection is to take over from another one, and which waits for another one to leave.`,
	Rules:  []string{"L17", "L19"},
	Status: edit.Upstream,
	Until:  "containerd's settings say which NRI plugins may be connected twice",
	Needs:  []string{"nri/hand-over", "containerd/nri-plugin-names"},
	Edits: []edit.Edit{
		edit.In(containerd.PluginConfig, edit.Type("PluginConfig")).AddField(`

// AllowDuplicates is whether plugins of the name are served beside each other. If not, one that
// registers while another one is there takes over from it, unless containerd has
// launched that from plugin_path.
AllowDuplicates bool ` + "`toml:\"allow_duplicates\" json:\"allowDuplicates\"`"),
		edit.In(containerd.PluginConfig, edit.Method("Config", "pluginSettings")).After(edit.Key("SyncTimeout"), "AllowDuplicates:       p.AllowDuplicates,"),
		edit.In("internal/nri/status.go", edit.Type("PluginStatus")).AddField(`
// TakesOver is whether it is to take over from another one of its name, or waits for
// one to leave that has taken over from it.
TakesOver bool ` + "`json:\"takesOver,omitempty\"`"),
		edit.In("internal/nri/status.go", edit.Func("pluginStatus")).After(edit.Key("Synchronized"), "TakesOver:     p.TakesOver,"),
		edit.In("internal/nri/lifecycle_metrics.go", edit.Func("init")).Replace(edit.Expr(`"Disconnects of NRI plugins, by reason: closed (by the plugin, or because containerd stops), or why containerd disconnected it: timeout, backlog or error"`),
			`"Disconnects of NRI plugins, by reason: closed (by the plugin, or because containerd stops), replaced (it registered again, and the new connection has taken over), or why containerd disconnected it: timeout, backlog or error"`),
	},
}
