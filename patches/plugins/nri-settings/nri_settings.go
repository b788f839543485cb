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
	Body: `An operator can neither see nor limit what NRI plugins cost a node: how
long events wait for a plugin and how many wait, why a plugin was
disconnected, which teardown events were late, and how long a
registration takes on a large node.

Add settings for the timeout of Synchronize, for the time that a stop or
removal waits for all plugins together, and for the number of events
that may wait for one plugin, with defaults that fit most nodes. Add a
setting that leaves pods being created out of Synchronize, for plugins
that cannot handle them. Reject invalid values at start. Add metrics
beside NRI's: events by plugin, kind and outcome, their wait for earlier
requests of the same plugin, late teardown events, the duration of
registrations, disconnects by reason, and the current length of each
plugin's queue.

Timeouts keep their defaults. A negative timeout was accepted and failed
the plugins. It is an error now, and NRI is not loaded then. Only CRI's
pods go through NRI, so other clients are not affected.`,
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
// PluginBacklogLimit is how many events may wait for one plugin. A plugin with more
// is disconnected. Zero stands for the default.
PluginBacklogLimit int ` + "`toml:\"plugin_backlog_limit\" json:\"pluginBacklogLimit\"`" + `
// PluginBacklogBytes is how many bytes the waiting events of one plugin may have.
PluginBacklogBytes int ` + "`toml:\"plugin_backlog_bytes\" json:\"pluginBacklogBytes\"`" + `
// PluginOverdueLimit is how long a plugin that stays connected after a timeout may
// be overdue before it is disconnected.
PluginOverdueLimit tomlext.Duration ` + "`toml:\"plugin_overdue_limit\" json:\"pluginOverdueLimit\"`" + `
// SyncTransientSandboxes is whether Synchronize lists pods that are still being
// created and whose RunPodSandbox the plugin will receive. Set it to false for
// plugins that take every pod in Synchronize for ready.
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
that handles both. A plugin that does not answer a request in time has failed that request, and is disconnected
by default. The plugin declares a failure policy when it registers, which decides whether the request of the
pod fails, too.

The end of a pod or container never fails because of a plugin. All plugins that know the pod or container
receive it at the same time, and it waits for all of them together. A plugin that has not answered by then
receives the rest in the background.

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
    # how long a plugin that declared keep_connected may be overdue before it is disconnected
    plugin_overdue_limit = "10m"
    # false leaves pods being created out of Synchronize, for plugins that take every pod there for ready
    sync_transient_sandboxes = true
` + "```" + `

The metrics that begin with ` + "`containerd_nri_plugin_`" + ` show for each plugin the number of events by outcome, how
long events wait for it, how many wait now, how long it took to synchronize, and why it was disconnected.`),
	},
}
