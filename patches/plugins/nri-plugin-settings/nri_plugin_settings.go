// SPDX-License-Identifier: Apache-2.0

package nripluginsettings

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NRIPluginSettings lets the operator require plugins.
var NRIPluginSettings = edit.Patch{
	Slug:    "nri-plugin-settings",
	Module:  "containerd",
	Subject: "cri,nri: let settings require plugins and set their timeouts",
	Body: `While an NRI plugin that pods depend on is disconnected, pods start without it.
Nothing but the plugin itself can say that they must not, and only while it is
there. And all plugins have the same timeouts, so that one that needs more time
has every plugin get it.

Add a table of settings by the name of a plugin: what must not start without
its answer, in which namespaces it may, how long pods wait for it while it is
away, and its timeouts, up to a ceiling. A pod or container that is rejected for
it fails as Unavailable, with the plugin's name and since when it is disconnected. Add
metrics of waits and rejections, and the plugins to the status of NRI.

If NRI cannot be used for an error in its configuration, CRI goes on without
it. Where plugins are required, it must not: let CRI fail to load then.`,
	Refs:   []string{"containerd/nri#45", "containerd/nri#142", "containerd/nri#287", "containerd/nri#304", "containerd/nri#316"},
	Rules:  []string{"L16", "L17", "L20"},
	Status: edit.Upstream,
	Until:  "containerd's settings can require NRI plugins by name for pods and containers",
	Needs:  []string{"nri/required-plugins", "containerd/nri-settings", "containerd/nri-status"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`
// PluginTimeoutCeiling is the longest wait and timeout that Plugins may have, so that
// none outlasts the kubelet's own timeout. Zero stands for two minutes.
PluginTimeoutCeiling tomlext.Duration ` + "`toml:\"plugin_timeout_ceiling\" json:\"pluginTimeoutCeiling\"`" + `
// Plugins is the settings of single plugins, by name: with the index, as in
// "10-logger", or without it for any index.
Plugins map[string]PluginConfig ` + "`toml:\"plugins\" json:\"plugins\"`"),
		edit.In(containerd.NRIConfig, edit.Func("DefaultConfig")).After(edit.Key("SyncTransientSandboxes"), `PluginTimeoutCeiling:      tomlext.FromStdTime(defaultTimeoutCeiling),
Plugins:                   map[string]PluginConfig{},`),
		edit.In(containerd.NRIConfig, edit.Method("Config", "toOptions")).After(edit.Stmt(edit.Mentions("nri.WithOrderedUpdates()")),
			`opts = append(opts, nri.WithPluginSettings(c.pluginSettings()))`),
		edit.In("internal/nri/validate.go", edit.Method("Config", "validate")).Before(edit.Stmt(edit.Return("errors.Join(errs...)")),
			`errs = append(errs, c.validatePlugins()...)
`),
		edit.In(containerd.LocalNRI, edit.Func("New")).Before(edit.Stmt(edit.If("cfg.Disable")), `if cfg.Disable && cfg.requiresPlugins() {
	return nil, errors.New("plugins are required, and NRI is disabled")
}
`),
		edit.AddImport(containerd.LocalNRI, "errors"),
		edit.In("internal/nri/status.go", edit.Type("Status")).AddField(`
// RequiredPlugins are those that the settings require, by name.
RequiredPlugins []RequiredPluginStatus ` + "`json:\"requiredPlugins,omitempty\"`"),
		edit.In("internal/nri/status.go", edit.Method("local", "Status")).After(edit.Stmt(edit.Assign("s.Enabled")), "s.RequiredPlugins = l.requiredPlugins()"),
		edit.In("internal/nri/status.go", edit.Type("WaitStatus")).AddField(`

// Disconnected is set if the plugin is required and not connected: the hook waits
// for it to connect.
Disconnected bool ` + "`json:\"disconnected,omitempty\"`"),
		edit.In("internal/nri/status.go", edit.Method("local", "Status")).After(edit.Key("Behind"), "Disconnected: w.Disconnected"),
		edit.In("plugins/nri/plugin.go", edit.Func("initFunc")).Replace(edit.Stmt(edit.Return("l", "err")), "return l, ic.Config.(*nri.Config).Failure(err)"),
		edit.In("plugins/cri/cri.go", edit.Func("initCRIService")).Before(edit.Stmt(edit.Define("options")),
			`if _, err := ic.GetByID(plugins.NRIApiPlugin, "nri"); errors.Is(err, nriservice.ErrRequiredPlugins) {
	return nil, fmt.Errorf("no pods can be created: %w", err)
}
`),
		edit.AddImport("plugins/cri/cri.go", "errors"),
		containerd.NRIGuide("Default Validator", "always be present for").After(`
## Requiring Plugins

The default validator asks at the creation of a container whether a plugin is connected. Settings of a
plugin can ask for more: that a pod or container starts only if this plugin has answered for it.

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri".plugins.device-injector]
    # what must not start without the plugin's answer
    required_for = ["pods", "containers"]
    # but for these namespaces: that of the plugin's own pods should be among them
    exempt_namespaces = ["kube-system"]
    # how long a pod or container waits for the plugin while it is disconnected. 0s: ten seconds
    wait = "10s"
    # timeouts of this plugin alone, up to plugin_timeout_ceiling. 0s: those of all plugins
    request_timeout = "5s"
    sync_timeout = "0s"
` + "```" + `

The name is that under which the plugin registers, with its index ("10-device-injector") or without. A pod
that is rejected fails with code Unavailable, and the error names the plugin and says since when it is disconnected.
The stop and the removal of pods never wait for a plugin that is disconnected. If plugins are required and the
configuration of NRI cannot be used, CRI does not load.

The annotations and the toleration of the default validator mean the same for pods.`),
	},
}
