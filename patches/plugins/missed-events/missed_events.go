// SPDX-License-Identifier: Apache-2.0

package missedevents

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// ctrNRI is a file that MissedEvents brings.
const ctrNRI = "cmd/ctr/commands/nri/nri.go"

// MissedEvents keeps the missed events of disconnected plugins, over restarts of containerd.
var MissedEvents = edit.Patch{
	Slug:    "missed-events",
	Module:  "containerd",
	Subject: "cri,nri: keep the ends that plugins have missed",
	Body: `An NRI plugin that is restarted while pods end never receives these
ends, and leaks what it holds for the pods. A restart of containerd has
the same effect for all plugins. NRI's adaptation can deliver missed
ends when a plugin is back, if it has a store for them.

Keep a store below containerd's root. It has the pods and containers
that each disconnected plugin knows, and the ends that it missed. While
all plugins are connected, nothing is written. An end is safe in the
file before containerd forgets the pod or container. If the file is
corrupt, locked, full or read-only, that is logged and counted, and
missed events are kept in memory.

Add settings for how long a plugin may be disconnected, for the bytes
that are kept for all plugins, and to switch all of it off. Reserved
names keep their place before others. Add metrics, and show disconnected
plugins in the status of NRI. Add "ctr nri forget", with a service on
containerd's own socket, for plugins that will not come back.

Plugins now receive stops and removals of pods that their Synchronize
does not list. An end at which three connections in a row are lost is
dropped, so that the plugin serves other pods again. While a plugin is
disconnected, a removal by the kubelet waits for one write to the disk.
A containerd without CRI has an empty file.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#167", "containerd/nri#281"},
	Rules:  []string{"L17", "L18", "L22"},
	Status: edit.Upstream,
	Until:  "containerd keeps the ends that an NRI plugin has missed until the plugin is back",
	Needs:  []string{"nri/missed-events", "containerd/missed-store", "containerd/nri-settings", "containerd/nri-status", "containerd/nri-plugin-names", "containerd/list-past-hung-shims"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`
// KeepMissedEvents is whether a plugin that comes back receives the ends that it missed while
// it was disconnected. They are kept below containerd's root.
KeepMissedEvents bool ` + "`toml:\"keep_missed_events\" json:\"keepMissedEvents\"`" + `
// MissedEventsTTL is how long a plugin may be disconnected before it is forgotten with its
// missed events. Zero stands for a day.
MissedEventsTTL tomlext.Duration ` + "`toml:\"missed_events_ttl\" json:\"missedEventsTTL\"`" + `
// MissedEventsBytes is how many bytes of missed events are kept for all plugins together, in
// memory and in the file. Above that, the plugin with the most bytes loses its oldest event.
// Zero stands for the default.
MissedEventsBytes int ` + "`toml:\"missed_events_bytes\" json:\"missedEventsBytes\"`" + `

// rootDir is the folder of the file of missed events. If empty, they are kept in memory.
rootDir string`),
		edit.In(containerd.NRIConfig, edit.Func("DefaultConfig")).After(edit.Key("SyncTransientSandboxes"), `KeepMissedEvents:          true,
MissedEventsTTL:           tomlext.FromStdTime(missed.DefaultTTL),
MissedEventsBytes:         missed.DefaultBytes,`),
		edit.AddImport(containerd.NRIConfig, "github.com/containerd/containerd/v2/internal/nri/missed"),
		edit.In("internal/nri/validate.go", edit.Method("Config", "validate")).Before(edit.Stmt(edit.Return("errors.Join(errs...)")),
			`errs = append(errs, c.validateMissedEvents()...)
`),
		edit.In(containerd.LocalNRI, edit.Type("local")).AddField("\n\nmissed *missed.Store // nil if no missed events are kept"),
		edit.AddImport(containerd.LocalNRI, "github.com/containerd/containerd/v2/internal/nri/missed"),
		edit.In(containerd.LocalNRI, edit.Func("New")).Before(edit.Stmt(edit.Assign("l.nri", "err")), `opts = append(opts, l.keepMissedEvents()...)

`),
		edit.In(containerd.LocalNRI, edit.Func("New")).Before(edit.Stmt(edit.Return("nil", `fmt.Errorf("failed to initialize NRI interface: %w", err)`)), `l.closeMissedEvents()
`),
		containerd.Local("Stop").After(edit.Stmt(edit.Mentions("l.nri.Stop()")), "l.closeMissedEvents()"),
		edit.In("plugins/nri/plugin.go", edit.Func("initFunc")).Before(edit.Stmt(edit.Define("l", "err")),
			`ic.Config.(*nri.Config).MissedEventsIn(ic.Properties[plugins.PropertyRootDir])
`),
		edit.In("internal/nri/status.go", edit.Type("Status")).AddField(`
// DisconnectedPlugins are the disconnected plugins for which missed events are kept, by name.
DisconnectedPlugins []DisconnectedPluginStatus ` + "`json:\"disconnectedPlugins,omitempty\"`"),
		edit.In("internal/nri/status.go", edit.Method("local", "Status")).After(edit.Stmt(edit.Assign("s.Enabled")), "s.DisconnectedPlugins = l.disconnectedPlugins()"),
		containerd.NRIGuide("Plugins That Are Slow or Do Not Answer", "`containerd_nri_plugin_`").After(missedEventsGuide),

		// Before v2.4 ctr has the commands of cli/v2.
		edit.DropImport(ctrNRI, "github.com/urfave/cli/v3").Below("v2.4"),
		edit.AddImport(ctrNRI, "github.com/urfave/cli/v2").Below("v2.4"),
		edit.In(ctrNRI, edit.Func("command")).Replace(edit.Stmt(edit.Assign("c.Commands")),
			"c.Subcommands = append(c.Subcommands, forgetCommand)").Below("v2.4"),
		edit.In(ctrNRI, edit.Func("ofEach")).Replace(edit.Stmt(edit.Return("func(ctx context.Context, cmd *cli.Command) error { return r.sendEach(ctx, cmd) }")),
			"return func(cmd *cli.Context) error { return r.sendEach(cmd.Context, cmd) }").Below("v2.4"),
		edit.In(ctrNRI, edit.Method("request", "sendEach")).Signature("func (r request) sendEach(ctx context.Context, cmd *cli.Context) error").Below("v2.4"),
		edit.In(ctrNRI, edit.Method("request", "send")).Signature("func (r request) send(ctx context.Context, cmd *cli.Context, names []string) error").Below("v2.4"),
		edit.In(ctrNRI, edit.Method("request", "send")).Replace(edit.Expr("commands.NewClient(ctx, cmd)"), "commands.NewClient(cmd)").Below("v2.4"),
		edit.In(ctrNRI, edit.Method("request", "send")).Replace(edit.Expr("cmd.Root().Writer"), "cmd.App.Writer").Below("v2.4"),
	},
}

const missedEventsGuide = `
## Disconnected Plugins

A plugin that comes back under the same index and name receives the ends that it missed: the stop and the removal
of each pod and container that it knew. They are delivered in order, right after its Synchronize, also over restarts
of containerd and of the node. Handlers of ends must be idempotent: if containerd is killed before it has noted an
answer, it delivers the end again.

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri"]
    # false: missed events are not kept, and those that were kept are dropped
    keep_missed_events = true
    # how long a plugin may be disconnected before it is forgotten
    missed_events_ttl = "24h"
    # how many bytes are kept for all plugins together. Above that, the plugin with the most loses its oldest event
    missed_events_bytes = 67108864
` + "```" + `

The file ` + "`io.containerd.nri.v1.nri/missed-events.db`" + ` below containerd's root keeps them. While all plugins are
connected, nothing is written to it. If the file cannot be used, the log says so, missed events are kept in memory, and
` + "`containerd_nri_missed_events_store_failures_total`" + ` counts it. Nothing else fails.

` + "`crictl info`" + ` lists in ` + "`disconnectedPlugins`" + ` each disconnected plugin, since when it is disconnected, and how many
ends it has missed. A plugin that will not come back, or comes back with another index, can be forgotten before its
time:

` + "```" + `
ctr nri forget 10-logger
` + "```" + `

Missed events are kept for 64 names. One more name takes the place of a disconnected name that has missed nothing and
knows nothing. If there is none, nothing is kept for the new name, and the log says so. Reserved names come before
others.

Of each event, ids and names are kept, the paths of namespaces and cgroups, and up to 8 KiB of labels and annotations,
the shortest first. Some seconds after its delivery an event is erased from the file.

Metrics for each plugin count the ends that are kept now (` + "`containerd_nri_plugin_missed_events_kept`" + `), that were
kept in all (` + "`_missed_events_total`" + `), that were delivered when it was back (` + "`_missed_events_delivered_total`" + `),
and that were dropped (` + "`_missed_events_dropped_total`" + `). ` + "`containerd_nri_missed_events_bytes`" + ` is how many bytes are
kept.
`
