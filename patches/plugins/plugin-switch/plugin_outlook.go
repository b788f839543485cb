// SPDX-License-Identifier: Apache-2.0

package pluginswitch

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

const ctrOutlook = "cmd/ctr/commands/nri/outlook.go"

// PluginOutlook shows what a plugin receives when it connects.
var PluginOutlook = edit.Patch{
	Slug:    "plugin-outlook",
	Module:  "containerd",
	Subject: "cri,nri: show what a plugin receives when it connects",
	Body: `An operator who turns a plugin on again, or starts one that was down, does
not see what that does: which pods have started without it, and which
ends it receives late.

Add "ctr nri list", which lists plugins that are connected, disconnected
or turned off. Add "ctr nri show", which shows what such a plugin will
receive: how many pods and containers, how many of these it does not know,
and the stops and removals that it has missed. Both read and change
nothing.`,
	Rules:  []string{"L17", "L18"},
	Status: edit.Upstream,
	Until:  "an operator sees what an NRI plugin of containerd receives when it connects",
	Needs:  []string{"containerd/plugin-switch"},
	Edits: []edit.Edit{
		edit.In(operator, edit.Type("NRI")).AddField("\nOutlooks"),
		edit.In("internal/nri/operator/operator_test.go", edit.Type("knows")).AddField("\nOutlooks"),
		edit.In(ctrSwitch, edit.Var("switchCommands")).Replace(edit.Expr("[]*cli.Command{offCommand, onCommand}"),
			"[]*cli.Command{listCommand, showCommand, offCommand, onCommand}"),
		// Before v2.4 ctr has the commands of cli/v2.
		edit.DropImport(ctrOutlook, "github.com/urfave/cli/v3").Below("v2.4"),
		edit.AddImport(ctrOutlook, "github.com/urfave/cli/v2").Below("v2.4"),
		edit.In(ctrOutlook, edit.Func("ofNone")).Replace(edit.Stmt(edit.Return("func(ctx context.Context, cmd *cli.Command) error { return r.send(ctx, cmd, []string{\"\"}) }")),
			"return func(cmd *cli.Context) error { return r.send(cmd.Context, cmd, []string{\"\"}) }").Below("v2.4"),
		containerd.NRIGuide("Turning a Plugin Off", "and the ends that it misses are kept").After(`
` + "`ctr nri list`" + ` lists plugins that are connected, disconnected or turned off. ` + "`ctr nri show`" + ` shows what a plugin will
receive when it connects: how many pods and containers, how many of these it does not know, and the ends that it has
missed.`),
	},
}
