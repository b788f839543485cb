// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

const nriConfig = "internal/nri/config.go"

// NRISettings are the settings and metrics of the engine.
var NRISettings = edit.Patch{
	Slug:    "nri-settings",
	Module:  "containerd",
	Subject: "nri: settings and metrics for the delivery of events",
	Body: `What NRI plugins cost a node cannot be seen or set: how long events wait for
a plugin as against in it, how far it is behind, why it was dropped, which
ends came late, and how long a registration takes on a large node.

Add settings for the timeout of Synchronize, the wait of a stop or removal
for all plugins together, and the backlog of one plugin, with defaults that
need no touching, and one that leaves pods in creation out of Synchronize for
plugins that cannot cope with them. Values that make no sense are refused at start. Add metrics
beside NRI's: events by plugin, kind and outcome, the wait behind a plugin's
other requests, late ends, joins and their duration, drops by reason, and the
depth of each plugin's queue when it is asked for.`,
	Refs:   []string{"containerd/nri#90", "containerd/nri#287", "containerd/nri#304"},
	Rules:  []string{"L13", "L16", "L17"},
	Status: edit.Upstream,
	Until:  "containerd has settings and metrics for the delivery of NRI events",
	Edits: []edit.Edit{
		edit.In(nriConfig, edit.Type("Config")).AddField(`
// PluginSyncTimeout is how long a plugin may take for its Synchronize, which on a
// large node is more to tell than a request. Zero stands for
// PluginRegistrationTimeout.
PluginSyncTimeout tomlext.Duration ` + "`toml:\"plugin_sync_timeout\" json:\"pluginSyncTimeout\"`" + `
// PluginTeardownWait is how long a stop or a removal waits for all plugins
// together. Zero stands for PluginRequestTimeout.
PluginTeardownWait tomlext.Duration ` + "`toml:\"plugin_teardown_wait\" json:\"pluginTeardownWait\"`" + `
// PluginBacklogLimit is how many events may wait for one plugin. One that falls
// behind further is dropped. Zero stands for the default.
PluginBacklogLimit int ` + "`toml:\"plugin_backlog_limit\" json:\"pluginBacklogLimit\"`" + `
// PluginBacklogBytes is how many bytes those events may have.
PluginBacklogBytes int ` + "`toml:\"plugin_backlog_bytes\" json:\"pluginBacklogBytes\"`" + `
// PluginOverdueLimit is how long a plugin that stays connected after a timeout
// may owe its answer before it is dropped all the same.
PluginOverdueLimit tomlext.Duration ` + "`toml:\"plugin_overdue_limit\" json:\"pluginOverdueLimit\"`" + `
// SyncTransientSandboxes is whether a plugin that registers is told of pods that
// are still being created and that it will be asked for. False is for plugins that
// take every pod of Synchronize for ready.
SyncTransientSandboxes bool ` + "`toml:\"sync_transient_sandboxes\" json:\"syncTransientSandboxes\"`"),
		edit.In(nriConfig, edit.Func("DefaultConfig")).After(edit.Key("PluginRequestTimeout"), `PluginBacklogLimit:        nri.DefaultBacklogLimit,
PluginBacklogBytes:        nri.DefaultBacklogBytes,
PluginOverdueLimit:        tomlext.FromStdTime(nri.DefaultOverdueLimit),
SyncTransientSandboxes:    true,`),
		edit.In(nriConfig, edit.Method("Config", "toOptions")).After(edit.Stmt(edit.Mentions("nri.WithMetrics(newNRIMetrics())")),
			`opts = append(opts, nri.WithOrderedUpdates(), nri.WithBacklogLimit(c.PluginBacklogLimit), nri.WithBacklogBytes(c.PluginBacklogBytes),
	nri.WithOverdueLimit(tomlext.ToStdTime(c.PluginOverdueLimit)), nri.WithPodsInCreation(c.SyncTransientSandboxes))`),
		edit.In(nriConfig, edit.Method("Config", "ConfigureTimeouts")).After(edit.Stmt(edit.If("c.PluginRequestTimeout != 0")),
			`nri.SetPluginSyncTimeout(tomlext.ToStdTime(c.PluginSyncTimeout))
nri.SetPluginTeardownWait(tomlext.ToStdTime(c.PluginTeardownWait))`),
		edit.In(localNRI, edit.Func("New")).Before(edit.Stmt(edit.Call("cfg.ConfigureTimeouts")), `if err := cfg.validate(); err != nil {
	return nil, fmt.Errorf("invalid NRI configuration: %w", err)
}
`),
		edit.In(localNRI, edit.Func("New")).After(edit.Stmt(edit.Assign("l.nri", "err")).And(1), `queues.of(l.nri)`),
	},
}
