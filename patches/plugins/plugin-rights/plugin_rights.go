// SPDX-License-Identifier: Apache-2.0

package pluginrights

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// PluginRights lets the operator limit what plugins may do.
var PluginRights = edit.Patch{
	Slug:    "plugin-rights",
	Module:  "containerd",
	Subject: "cri,nri: let settings limit what plugins may do",
	Body: `A process that can connect to NRI's socket can do on the node what root
can. An operator who runs a plugin that only observes pods, or only sets
resources of containers, has to trust it with everything.

Add a list of rights to the settings of a plugin, and a list for all
plugins without one of their own (plugin_rights). By default no plugin
is limited. A plugin that subscribes to more events than it has a right
to fails to register, and an answer that asks for more changes is an
error of the plugin. Count each right that a plugin lacks, and show the
rights of limited plugins in the status of NRI.`,
	Refs:   []string{"containerd/nri#137"},
	Rules:  []string{"L17", "L24"},
	Status: edit.Upstream,
	Until:  "containerd's settings can limit what an NRI plugin may do",
	Needs:  []string{"nri/plugin-rights", "containerd/nri-plugin-names"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`
// PluginRights is what plugins without rights of their own may do, in the form of their
// rights. If empty, they may do everything.
PluginRights []string ` + "`toml:\"plugin_rights\" json:\"pluginRights\"`"),
		edit.In(containerd.NRIConfig, edit.Method("Config", "toOptions")).After(edit.Stmt(edit.Mentions("nri.WithPodNamespaces(domains.podNamespace)")),
			`opts = append(opts, nri.WithPluginRights(c.PluginRights))`),
		edit.In(containerd.LocalNRI, edit.Func("New")).Before(edit.Stmt(edit.Call("cfg.toOptions")), `for _, why := range cfg.looseRights() {
	log.L.Warn(why)
}
`),
		edit.In(containerd.PluginConfig, edit.Type("PluginConfig")).AddField(`

// Rights is what the plugin may do: events, such as "events.RunPodSandbox"; fields of the
// adjustment of a container, such as "adjust.mounts" or "adjust.linux.resources.cpu"; "update" and
// "evict" of other containers; or groups, such as "events" or "adjust.linux". "none", alone,
// allows nothing. If empty, plugin_rights apply.
Rights []string ` + "`toml:\"rights\" json:\"rights\"`"),
		edit.In(containerd.PluginConfig, edit.Method("Config", "pluginSettings")).After(edit.Key("SyncTimeout"), `Rights:                p.Rights,`),
		edit.In(containerd.PluginConfig, edit.Method("PluginConfig", "validate")).Before(edit.Top(), `if err := nri.CheckRights(p.Rights); err != nil {
	errs = append(errs, fmt.Errorf("rights: %w", err))
}
`),
		edit.In(containerd.PluginConfig, edit.Method("Config", "validatePlugins")).Before(edit.Top(), `if err := nri.CheckRights(c.PluginRights); err != nil {
	errs = append(errs, fmt.Errorf("plugin_rights: %w", err))
}
`),
		edit.In("internal/nri/status.go", edit.Type("PluginStatus")).AddField(`

// Rights are what the plugin may do, if that is limited.
Rights []string ` + "`json:\"rights,omitempty\"`"),
		edit.In("internal/nri/status.go", edit.Func("pluginStatus")).After(edit.Key("Subscriptions"), "Rights:        p.Rights,"),
		containerd.NRIGuide("Reserving Names of Plugins", "code PermissionDenied from RegisterPlugin").After(`
## Limiting What Plugins May Do

A process that can write to the NRI socket can do on the node what root can. The rights of a plugin limit it to
events and changes:

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri"]
    plugin_rights = ["none"]
  [plugins."io.containerd.nri.v1.nri".plugins.device-injector]
    allowed_namespaces = ["kube-system"]
    rights = ["events.CreateContainer", "adjust.linux.devices"]
` + "```" + `

plugin_rights are those of all plugins without rights of their own. A right is an event, a field of the adjustment
of a container, update or evict, or the group before a dot: events, adjust or adjust.linux. A plugin
that subscribes to more fails to register. An answer that asks for more counts as an error of the plugin.
Reserve the name of a plugin that has rights, or another process can register under that name.`),
	},
}
