// SPDX-License-Identifier: Apache-2.0

package nrisettings

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

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
are rejected at start. Add metrics beside NRI's: events by plugin, kind and
outcome, their wait for earlier requests of the same plugin, late teardown
events, the duration of registrations, disconnects by reason, and the current
length of each plugin's queue.

Timeouts stay what they were by default. A negative timeout was taken and failed
the plugins; it is an error now, with which NRI is not loaded. Only CRI's pods go
through NRI, so other clients are not affected.`,
	Refs:   []string{"containerd/nri#90", "containerd/nri#287", "containerd/nri#304"},
	Rules:  []string{"L13", "L16", "L17"},
	Status: edit.Upstream,
	Until:  "containerd has settings and metrics for the delivery of NRI events",
	Needs:  []string{"nri/delivery-metrics", "containerd/patched-nri", "containerd/plugin-series"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`
// PluginSyncTimeout is how long a plugin may take to answer Synchronize, which on
// a large node is more than one request. Zero stands for PluginRequestTimeout.
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
		edit.In(containerd.NRIConfig, edit.Func("DefaultConfig")).After(edit.Key("PluginRequestTimeout"), `PluginBacklogLimit:        nri.DefaultBacklogLimit,
PluginBacklogBytes:        nri.DefaultBacklogBytes,
PluginOverdueLimit:        tomlext.FromStdTime(nri.DefaultOverdueLimit),
SyncTransientSandboxes:    true,`),
		edit.In(containerd.NRIConfig, edit.Method("Config", "toOptions")).After(edit.Stmt(edit.Mentions("nri.WithMetrics(newNRIMetrics())")),
			`opts = append(opts, nri.WithOrderedUpdates(), nri.WithBacklogLimit(c.PluginBacklogLimit), nri.WithBacklogBytes(c.PluginBacklogBytes),
	nri.WithOverdueLimit(tomlext.ToStdTime(c.PluginOverdueLimit)), nri.WithPodsInCreation(c.SyncTransientSandboxes))`),
		edit.In(containerd.NRIConfig, edit.Method("Config", "ConfigureTimeouts")).After(edit.Stmt(edit.If("c.PluginRequestTimeout != 0")),
			`nri.SetPluginSyncTimeout(tomlext.ToStdTime(c.PluginSyncTimeout))
nri.SetPluginTeardownWait(tomlext.ToStdTime(c.PluginTeardownWait))`),
		edit.In(containerd.LocalNRI, edit.Func("New")).Before(edit.Stmt(edit.Call("cfg.ConfigureTimeouts")), `if err := cfg.validate(); err != nil {
	return nil, fmt.Errorf("invalid NRI configuration: %w", err)
}
`),
		edit.In(containerd.LocalNRI, edit.Func("New")).After(edit.Stmt(edit.Assign("l.nri", "err")).And(1), `queues.of(l.nri)`),
		containerd.NRIGuide("Disabling NRI Support in Containerd", "two NRI-enabled runtimes").After(`
## Plugins That Are Slow or Do Not Answer

A plugin handles one request at a time. Requests of different pods wait for each other only in a plugin
that handles both. A plugin that has not answered a request in time has failed that request. By default it
is disconnected then. What that means for the pod is the plugin's failure policy, which it declares when it
registers.

The end of a pod or container never fails because of a plugin. It is told to all plugins that know the pod
or container at the same time, and waited for once. A plugin that has not answered by then gets the rest in
the background.

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri"]
    # how long a plugin has to answer a request
    plugin_request_timeout = "2s"
    # how long a plugin has to answer Synchronize. 0s: as long as to register
    plugin_sync_timeout = "0s"
    # how long a stop or a removal waits for all plugins together. 0s: one request timeout
    plugin_teardown_wait = "0s"
    # how many events, and bytes of them, may wait for one plugin before it is disconnected
    plugin_backlog_limit = 4096
    plugin_backlog_bytes = 67108864
    # how long a plugin that declared keep_connected may are overdue before it is disconnected all the same
    plugin_overdue_limit = "10m"
    # false leaves pods being created out of Synchronize, for plugins that take every pod there for ready
    sync_transient_sandboxes = true
` + "```" + `

The metrics that begin with ` + "`containerd_nri_plugin_`" + ` tell for each plugin how many events it got and what
came of them, how long events wait for it, how many wait now, how long it took to synchronize, and why it was
disconnected.`),
	},
}
