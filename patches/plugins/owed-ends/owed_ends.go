// SPDX-License-Identifier: Apache-2.0

package owedends

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// ctrNRI is a file that OwedEnds brings.
const ctrNRI = "cmd/ctr/commands/nri/nri.go"

// OwedEnds keeps what plugins are owed that are away, over restarts of containerd.
var OwedEnds = edit.Patch{
	Slug:    "owed-ends",
	Module:  "containerd",
	Subject: "cri,nri: keep the ends that plugins have missed",
	Body: `An NRI plugin that is restarted while pods end does not hear of these ends, and
leaks what it holds for the pods. After a restart of containerd that is so for all
plugins. NRI's adaptation can tell them when they are back, if it has a store.

Keep one below containerd's root, with what plugins know that are away and the ends
that they have not heard. With nobody away nothing is written. An end is safe in the
file before containerd forgets the pod or container. A file that is
corrupt, locked, full or read-only is logged and counted, and in nobody's way: ends
are kept in memory then.

How long a plugin may be away, and how many bytes are kept for all plugins, are
settings, and it can be switched off. Names that are reserved keep their place
before others. Add metrics, show plugins that are away in the
status of NRI, and let an operator forget one that is not coming back: "ctr nri forget",
by a service on containerd's own socket.

Plugins now get stops and removals of pods that their Synchronize does not list.
An end at which three connections in a row are lost is given up, so that the
plugin serves other pods again. While a plugin is away, a removal by the kubelet
waits for one write to the disk. A containerd without CRI has the file, empty.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#167", "containerd/nri#281"},
	Rules:  []string{"L17", "L18", "L22"},
	Status: edit.Upstream,
	Until:  "containerd keeps the ends that NRI plugins have missed until these are back",
	Needs:  []string{"nri/owed-ends", "containerd/owed-store", "containerd/nri-settings", "containerd/nri-status", "containerd/nri-plugin-names", "containerd/list-past-hung-shims"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`
// KeepOwedEnds is whether plugins that come back are told what ended while they were
// away. It is kept below containerd's root.
KeepOwedEnds bool ` + "`toml:\"keep_owed_ends\" json:\"keepOwedEnds\"`" + `
// OwedEndsTTL is how long a plugin may be away before it is forgotten, with all that
// it is owed. Zero stands for a day.
OwedEndsTTL tomlext.Duration ` + "`toml:\"owed_ends_ttl\" json:\"owedEndsTTL\"`" + `
// OwedEndsBytes is how many bytes are kept for all plugins together, in memory and in the
// file. Then the one that takes most loses its oldest. Zero stands for the default.
OwedEndsBytes int ` + "`toml:\"owed_ends_bytes\" json:\"owedEndsBytes\"`" + `

// rootDir is where it is kept what plugins are owed, empty for memory.
rootDir string`),
		edit.In(containerd.NRIConfig, edit.Func("DefaultConfig")).After(edit.Key("SyncTransientSandboxes"), `KeepOwedEnds:              true,
OwedEndsTTL:               tomlext.FromStdTime(owed.DefaultTTL),
OwedEndsBytes:             owed.DefaultBytes,`),
		edit.AddImport(containerd.NRIConfig, "github.com/containerd/containerd/v2/internal/nri/owed"),
		edit.In("internal/nri/validate.go", edit.Method("Config", "validate")).Before(edit.Stmt(edit.Return("errors.Join(errs...)")),
			`errs = append(errs, c.validateOwedEnds()...)
`),
		edit.In(containerd.LocalNRI, edit.Type("local")).AddField("\n\nowed *owed.Store // nil if no ends are kept"),
		edit.AddImport(containerd.LocalNRI, "github.com/containerd/containerd/v2/internal/nri/owed"),
		edit.In(containerd.LocalNRI, edit.Func("New")).Before(edit.Stmt(edit.Assign("l.nri", "err")), `opts = append(opts, l.keepOwedEnds()...)

`),
		edit.In(containerd.LocalNRI, edit.Func("New")).Before(edit.Stmt(edit.Return("nil", `fmt.Errorf("failed to initialize NRI interface: %w", err)`)), `l.closeOwedEnds()
`),
		containerd.Local("Stop").After(edit.Stmt(edit.Mentions("l.nri.Stop()")), "l.closeOwedEnds()"),
		edit.In("plugins/nri/plugin.go", edit.Func("initFunc")).Before(edit.Stmt(edit.Define("l", "err")),
			`ic.Config.(*nri.Config).OwedEndsIn(ic.Properties[plugins.PropertyRootDir])
`),
		edit.In("internal/nri/status.go", edit.Type("Status")).AddField(`
// AwayPlugins are those that are not there now and for which ends are kept, by name.
AwayPlugins []AwayPluginStatus ` + "`json:\"awayPlugins,omitempty\"`"),
		edit.In("internal/nri/status.go", edit.Method("local", "Status")).After(edit.Stmt(edit.Assign("s.Enabled")), "s.AwayPlugins = l.awayPlugins()"),
		containerd.NRIGuide("Plugins That Are Slow or Do Not Answer", "`containerd_nri_plugin_`").After(owedEndsGuide),

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

const owedEndsGuide = `
## Plugins That Are Away

A plugin that comes back is told what ended while it was away: the stop and the removal of each pod and
container that it knew, after its Synchronize and in order, also over restarts of containerd and of the node.
It has to come back under the same index and name. Handlers of ends must be idempotent: an end is told again
where containerd was killed before it had noted the answer.

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri"]
    # false: plugins are not told what they missed, and what was kept is dropped
    keep_owed_ends = true
    # how long a plugin may be away before it is forgotten
    owed_ends_ttl = "24h"
    # how many bytes are kept for all plugins together. Then the one that takes most loses its oldest
    owed_ends_bytes = 67108864
` + "```" + `

They are kept in ` + "`io.containerd.nri.v1.nri/owed-ends.db`" + ` below containerd's root, which nothing is written to
while all plugins are there. A file that cannot be used keeps nothing from working: the log says so, ends are kept in
memory, and ` + "`containerd_nri_owed_store_failures_total`" + ` counts it.

` + "`crictl info`" + ` lists in ` + "`awayPlugins`" + ` who is away, since when, and how many ends each is owed. A plugin that is not
coming back, or comes back with another index, can be forgotten before its time:

` + "```" + `
ctr nri forget 10-logger
` + "```" + `

64 names are kept. One more takes the place of a name that is away, has missed nothing and knows nothing, or is not kept,
and the log says so. Names that are reserved come before those that are not.

A request that is kept has ids and names, the paths of namespaces and cgroups, and labels and annotations
of up to 8 KiB, the shortest first. What was told is gone from the file some seconds later.

Metrics for each plugin tell how many ends are kept for it now (` + "`containerd_nri_plugin_ends_unheard`" + `), were kept in
all (` + "`_ends_owed_total`" + `), were told when it was back (` + "`_ends_told_on_return_total`" + `), and were given up
(` + "`_ends_dropped_total`" + `). ` + "`containerd_nri_owed_bytes`" + ` is how many bytes are kept.
`
