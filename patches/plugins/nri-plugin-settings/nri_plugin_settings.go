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
	Body: `While an NRI plugin that pods depend on is disconnected, pods start
without it. Only the plugin itself can prevent that, and only while it
is connected. All plugins also have the same timeouts, so one plugin
that needs more time forces a longer timeout on every plugin.

Add a table of settings by the name of a plugin: whether pods,
containers or both need its answer to start, the namespaces that are
exempt, how long pods wait for it while it is disconnected, and its
timeouts, up to a ceiling. A pod or container that is rejected for lack
of the plugin fails as Unavailable, with the plugin's name and since
when it is disconnected. Add metrics of waits and rejections, and show
required plugins in the status of NRI.

An unknown key of these settings has no effect, so a typing error may let
pods start without a plugin. Let the configuration of a plugin say that
its keys matter: an unknown one is then logged at level error.

If NRI cannot be used because of an error in its configuration, CRI runs
without NRI. Where plugins are required, let CRI fail to load instead.`,
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
// Plugins is the settings of single plugins, by name. A name has the index, as in
// "10-logger", or no index, and then holds for any index.
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
// RequiredPlugins are the plugins that the settings require, by name.
RequiredPlugins []RequiredPluginStatus ` + "`json:\"requiredPlugins,omitempty\"`"),
		edit.In("internal/nri/status.go", edit.Method("local", "Status")).After(edit.Stmt(edit.Assign("s.Enabled")), "s.RequiredPlugins = l.requiredPlugins()"),
		edit.In("internal/nri/status.go", edit.Type("WaitStatus")).AddField(`

// Disconnected is set if the plugin is required and not connected: the hook waits
// for it to connect.
Disconnected bool ` + "`json:\"disconnected,omitempty\"`"),
		edit.In("internal/nri/status.go", edit.Method("local", "Status")).After(edit.Key("Behind"), "Disconnected: w.Disconnected"),
		edit.In("cmd/containerd/server/config/config.go", edit.Method("Config", "Decode")).Replace(
			edit.Stmt(edit.Mentions("derr.Key()")), `logUnknownKey(ctx, id, config, derr)`),
		edit.In("plugins/nri/plugin.go", edit.Func("initFunc")).Replace(edit.Stmt(edit.Return("l", "err")), "return l, ic.Config.(*nri.Config).Failure(err)"),
		edit.In("plugins/cri/cri.go", edit.Func("initCRIService")).Before(edit.Stmt(edit.Define("options")),
			`if _, err := ic.GetByID(plugins.NRIApiPlugin, "nri"); errors.Is(err, nriservice.ErrRequiredPlugins) {
	return nil, fmt.Errorf("no pods can be created: %w", err)
}
`),
		edit.AddImport("plugins/cri/cri.go", "errors"),
		containerd.NRIGuide("Default Validator", "always be present for").After(`
## Requiring Plugins

When a container is created, the default validator checks that a plugin is connected. The settings of a
plugin can require more: that a pod or container starts only if this plugin has answered for it.

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri".plugins.device-injector]
    # these start only with the plugin's answer
    required_for = ["pods", "containers"]
    # except in these namespaces, which should include the namespace of the plugin's own pods
    exempt_namespaces = ["kube-system"]
    # how long a pod or container waits for the plugin while it is disconnected. 0s: ten seconds
    wait = "10s"
    # timeouts of this plugin alone, up to plugin_timeout_ceiling. 0s: those of all plugins
    request_timeout = "5s"
    sync_timeout = "0s"
` + "```" + `

The name is the one under which the plugin registers, with its index ("10-device-injector") or without. A
rejected pod fails with code Unavailable. The error names the plugin, and since when it is disconnected.
The stop and the removal of pods never wait for a disconnected plugin. If plugins are required and the
configuration of NRI cannot be used, CRI does not load.

The annotations and the toleration of the default validator mean the same for pods.`),
	},
}
