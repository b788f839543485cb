// SPDX-License-Identifier: Apache-2.0

package missedevents

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// ctrNRI is a file that MissedEvents brings.
const ctrNRI = "cmd/ctr/commands/nri/nri.go"

// MissedEvents keeps what plugins are owed that are disconnected, over restarts of containerd.
var MissedEvents = edit.Patch{
	Slug:    "missed-events",
	Module:  "containerd",
	Subject: "cri,nri: keep the ends that plugins have missed",
	Body: `An NRI plugin that is restarted while pods end does not hear of these ends, and
leaks what it holds for the pods. After a restart of containerd that is so for all
plugins. NRI's adaptation can tell them when they are back, if it has a store.

Keep one below containerd's root, with what plugins know that are disconnected and the ends
that they have not heard. With nobody away nothing is written. An end is safe in the
file before containerd forgets the pod or container. A file that is
corrupt, locked, full or read-only is logged and counted, and in nobody's way: ends
are kept in memory then.

How long a plugin may be disconnected, and how many bytes are kept for all plugins, are
settings, and it can be switched off. Names that are reserved keep their place
before others. Add metrics, show plugins that are disconnected in the
status of NRI, and let an operator forget one that is not coming back: "ctr nri forget",
by a service on containerd's own socket.

Plugins now get stops and removals of pods that their Synchronize does not list.
An end at which three connections in a row are lost is given up, so that the
plugin serves other pods again. While a plugin is disconnected, a removal by the kubelet
waits for one write to the disk. A containerd without CRI has the file, empty.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#167", "containerd/nri#281"},
	Rules:  []string{"L17", "L18", "L22"},
	Status: edit.Upstream,
	Until:  "containerd keeps the ends that NRI plugins have missed until these are back",
	Needs:  []string{"nri/missed-events", "containerd/missed-store", "containerd/nri-settings", "containerd/nri-status", "containerd/nri-plugin-names", "containerd/list-past-hung-shims"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`
// KeepMissedEvents is whether plugins that come back are told what ended while they were
// away. It is kept below containerd's root.
KeepMissedEvents bool ` + "`toml:\"keep_missed_events\" json:\"keepMissedEvents\"`" + `
// MissedEventsTTL is how long a plugin may be disconnected before it is forgotten, with all that
// it is owed. Zero stands for a day.
MissedEventsTTL tomlext.Duration ` + "`toml:\"missed_events_ttl\" json:\"missedEventsTTL\"`" + `
// MissedEventsBytes is how many bytes are kept for all plugins together, in memory and in the
// file. Then the one that takes most loses its oldest. Zero stands for the default.
MissedEventsBytes int ` + "`toml:\"missed_events_bytes\" json:\"missedEventsBytes\"`" + `

// rootDir is where it is kept what plugins are owed, empty for memory.
rootDir string`),
		edit.In(containerd.NRIConfig, edit.Func("DefaultConfig")).After(edit.Key("SyncTransientSandboxes"), `KeepMissedEvents:          true,
MissedEventsTTL:           tomlext.FromStdTime(missed.DefaultTTL),
MissedEventsBytes:         missed.DefaultBytes,`),
		edit.AddImport(containerd.NRIConfig, "github.com/containerd/containerd/v2/internal/nri/missed"),
		edit.In("internal/nri/validate.go", edit.Method("Config", "validate")).Before(edit.Stmt(edit.Return("errors.Join(errs...)")),
			`errs = append(errs, c.validateMissedEvents()...)
`),
		edit.In(containerd.LocalNRI, edit.Type("local")).AddField("\n\nmissed *missed.Store // nil if no ends are kept"),
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
// DisconnectedPlugins are those that are not there now and for which ends are kept, by name.
DisconnectedPlugins []DisconnectedPluginStatus ` + "`json:\"disconnectedPlugins,omitempty\"`"),
		edit.In("internal/nri/status.go", edit.Method("local", "Status")).After(edit.Stmt(edit.Assign("s.Enabled")), "s.DisconnectedPlugins = l.disconnectedPlugins()"),
		containerd.NRIGuide("Plugins That Are Slow or Do Not Answer", "`containerd_nri_plugin_`").After(missedEventsGuide),

		// ctr has commands of cli/v2 before v2.4.
		edit.DropImport(ctrNRI, "context").Below("v2.4"),
		edit.DropImport(ctrNRI, "github.com/urfave/cli/v3").Below("v2.4"),
		edit.AddImport(ctrNRI, "github.com/urfave/cli/v2").Below("v2.4"),
		edit.In(ctrNRI, edit.Func("command")).Replace(edit.Stmt(edit.Assign("c.Commands")),
			"c.Subcommands = append(c.Subcommands, forgetCommand)").Below("v2.4"),
		edit.In(ctrNRI, edit.Func("forget")).Signature("func forget(cmd *cli.Context) error").Below("v2.4"),
		edit.In(ctrNRI, edit.Func("forget")).Replace(edit.Expr("commands.NewClient(ctx, cmd)"), "commands.NewClient(cmd)").Below("v2.4"),
		edit.In(ctrNRI, edit.Func("forget")).Replace(edit.Expr("cmd.Root().Writer"), "cmd.App.Writer").Below("v2.4"),
	},
}

const missedEventsGuide = `
## Disconnected Plugins

A plugin that comes back is told what ended while it was disconnected: the stop and the removal of each pod and
container that it knew, after its Synchronize and in order, also over restarts of containerd and of the node.
It has to come back under the same index and name. Handlers of ends must be idempotent: an end is told again
where containerd was killed before it had noted the answer.

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri"]
    # false: plugins are not told what they missed, and what was kept is dropped
    keep_missed_events = true
    # how long a plugin may be disconnected before it is forgotten
    missed_events_ttl = "24h"
    # how many bytes are kept for all plugins together. Then the one that takes most loses its oldest
    missed_events_bytes = 67108864
` + "```" + `

They are kept in ` + "`io.containerd.nri.v1.nri/missed-events.db`" + ` below containerd's root, which nothing is written to
while all plugins are there. A file that cannot be used keeps nothing from working: the log says so, ends are kept in
memory, and ` + "`containerd_nri_missed_events_store_failures_total`" + ` counts it.

` + "`crictl info`" + ` lists in ` + "`disconnectedPlugins`" + ` who is disconnected, since when, and how many ends each is owed. A plugin that is not
coming back, or comes back with another index, can be forgotten before its time:

` + "```" + `
ctr nri forget 10-logger
` + "```" + `

64 names are kept. One more takes the place of a name that is disconnected, has missed nothing and knows nothing, or is not kept,
and the log says so. Names that are reserved come before those that are not.

A request that is kept has ids and names, the paths of namespaces and cgroups, and labels and annotations
of up to 8 KiB, the shortest first. What was told is gone from the file some seconds later.

Metrics for each plugin tell how many ends are kept for it now (` + "`containerd_nri_plugin_missed_events_kept`" + `), were kept in
all (` + "`_missed_events_total`" + `), were told when it was back (` + "`_missed_events_delivered_total`" + `), and were given up
(` + "`_ends_dropped_total`" + `). ` + "`containerd_nri_missed_events_bytes`" + ` is how many bytes are kept.
`
