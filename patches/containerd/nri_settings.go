// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// NRISettings adds settings and metrics for the delivery of NRI events.
var NRISettings = edit.Patch{
	Slug:    "nri-settings",
	Module:  "containerd",
	Subject: "nri: add settings and metrics for the delivery of events",
	Body: `What NRI plugins cost a node can be neither seen nor set: how long an event
waits before a plugin gets it, how many wait, why a plugin was disconnected,
which teardown events came late, and how long a registration takes on a large
node.

Add settings for the timeout of Synchronize, the time that a stop or removal
waits for all plugins together, and the number of events that may wait for one
plugin, with defaults that fit most nodes; and one that leaves pods being
created out of Synchronize, for plugins that cannot handle them. Invalid values
are refused at start. Add metrics beside NRI's: events by plugin, kind and
outcome, their wait for earlier requests of the same plugin, late teardown
events, the duration of registrations, disconnects by reason, and the current
length of each plugin's queue.`,
	Refs:   []string{"containerd/nri#90", "containerd/nri#287", "containerd/nri#304"},
	Rules:  []string{"L13", "L16", "L17"},
	Status: edit.Upstream,
	Until:  "containerd has settings and metrics for the delivery of NRI events",
	Needs:  []string{"containerd/patched-nri"},
	Edits: []edit.Edit{
		edit.In(nriConfig, edit.Type("Config")).AddField(`
// PluginSyncTimeout is how long a plugin may take to answer Synchronize, which on
// a large node is more than one request. Zero stands for
// PluginRegistrationTimeout.
PluginSyncTimeout tomlext.Duration ` + "`toml:\"plugin_sync_timeout\" json:\"pluginSyncTimeout\"`" + `
// PluginTeardownWait is how long a stop or a removal waits for all plugins
// together. Zero stands for PluginRequestTimeout.
PluginTeardownWait tomlext.Duration ` + "`toml:\"plugin_teardown_wait\" json:\"pluginTeardownWait\"`" + `
// PluginBacklogLimit is how many events may wait for one plugin. A plugin for
// which more would wait is disconnected. Zero stands for the default.
PluginBacklogLimit int ` + "`toml:\"plugin_backlog_limit\" json:\"pluginBacklogLimit\"`" + `
// PluginBacklogBytes is how many bytes those events may have.
PluginBacklogBytes int ` + "`toml:\"plugin_backlog_bytes\" json:\"pluginBacklogBytes\"`" + `
// PluginOverdueLimit is how long a plugin that stays connected after a timeout
// may owe its answer before it is disconnected all the same.
PluginOverdueLimit tomlext.Duration ` + "`toml:\"plugin_overdue_limit\" json:\"pluginOverdueLimit\"`" + `
// SyncTransientSandboxes is whether Synchronize lists pods that are still being
// created and whose RunPodSandbox the plugin will get. False is for plugins that
// take every pod in Synchronize for ready.
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
