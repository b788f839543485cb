// SPDX-License-Identifier: Apache-2.0

package pluginswitch

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

const (
	ctrNRI    = "cmd/ctr/commands/nri/nri.go" // of missed-events
	ctrSwitch = "cmd/ctr/commands/nri/switch.go"
	operator  = "internal/nri/operator/operator.go" // of missed-events
)

// PluginSwitch lets an operator turn a plugin off and on.
var PluginSwitch = edit.Patch{
	Slug:    "plugin-switch",
	Module:  "containerd",
	Subject: "cri,nri: turn a plugin off and on with ctr",
	Body: `If pods of one node fail because of an NRI plugin, its operator has no
way to take that plugin out. A DaemonSet stops it on all nodes, and a
plugin that runs on its own, or that containerd launches, is started
again.

Add "ctr nri off" and "ctr nri on". A plugin that is off is disconnected
and cannot register, also after a restart of containerd: an empty file
below containerd's root says so. Pods start without it. Those that require
it are rejected, and "ctr nri off" says that there are such. The stops and
removals that it misses are kept as for any plugin that is disconnected.

Show plugins that are off in the status of NRI, and count them.

A containerd without this change ignores the files: the plugin is on.`,
	Rules:  []string{"L17", "L18", "L20"},
	Status: edit.Upstream,
	Until:  "an operator can turn an NRI plugin of containerd off",
	Needs:  []string{"nri/plugin-switch", "containerd/missed-events", "containerd/hand-over"},
	Edits: []edit.Edit{
		edit.In(containerd.LocalNRI, edit.Type("local")).AddField("\n\nswitches *pluginSwitches"),
		edit.In(containerd.LocalNRI, edit.Func("New")).Before(edit.Stmt(edit.Mentions(`"created NRI interface"`)), `l.switches = newPluginSwitches(cfg.rootDir)
l.turnOffKept()
`),
		edit.In(operator, edit.Type("NRI")).AddField("\n\nSwitches"),
		edit.In("internal/nri/operator/operator_test.go", edit.Type("knows")).AddField("\n\nSwitches // of other tests"),
		edit.In("internal/nri/status.go", edit.Type("Status")).AddField(`
// PluginsOff are the plugins that are turned off.
PluginsOff []PluginOffStatus ` + "`json:\"pluginsOff,omitempty\"`"),
		edit.In("internal/nri/status.go", edit.Method("local", "Status")).After(edit.Stmt(edit.Assign("s.Enabled")), "s.PluginsOff = l.pluginsOff()"),
		edit.In("internal/nri/status_test.go", edit.Func("TestStatus")).Replace(edit.Expr("&local{cfg: &Config{}}"), `&local{cfg: &Config{}, switches: newPluginSwitches("")}`),
		edit.In("internal/nri/lifecycle_metrics.go", edit.Func("init")).Replace(edit.Expr(`"Disconnects of NRI plugins, by reason: closed (by the plugin, or because containerd stops), replaced (a newer connection of the plugin has taken over), or why containerd disconnected it: timeout, backlog or error"`),
			`"Disconnects of NRI plugins, by reason: closed (by the plugin, or because containerd stops), replaced (a newer connection of the plugin has taken over), off (by an operator), or why containerd disconnected it: timeout, backlog or error"`),

		edit.In(ctrNRI, edit.Func("command")).Before(edit.Stmt(edit.Return("c")), `c.Commands = append(c.Commands, switchCommands...)
`).Since("v2.4"),
		// Before v2.4 ctr has the commands of cli/v2.
		edit.In(ctrNRI, edit.Func("command")).Before(edit.Stmt(edit.Return("c")), `c.Subcommands = append(c.Subcommands, switchCommands...)
`).Below("v2.4"),
		edit.DropImport(ctrSwitch, "github.com/urfave/cli/v3").Below("v2.4"),
		edit.AddImport(ctrSwitch, "github.com/urfave/cli/v2").Below("v2.4"),

		containerd.NRIGuide("Disconnected Plugins", "`containerd_nri_missed_events_bytes` is how many bytes").After(`
## Turning a Plugin Off

A plugin can be taken out of one node without a restart, for example because pods fail with it:

` + "```" + `
ctr nri off 10-logger
ctr nri on 10-logger
` + "```" + `

A plugin that is off is disconnected, and RegisterPlugin rejects it, until it is turned on. It stays off over restarts
of containerd and of the node. For pods and containers it is a plugin that is disconnected: those that require it are
rejected, and the ends that it misses are kept.`),
	},
}
