// SPDX-License-Identifier: Apache-2.0

package plugingatesnetwork

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// PluginGatesNetwork makes NetworkReady say that a required plugin is disconnected.
var PluginGatesNetwork = edit.Patch{
	Slug:    "plugin-gates-network",
	Module:  "containerd",
	Subject: "cri,nri: let NetworkReady say that a required plugin is disconnected",
	Body: `Where an NRI plugin gives pods their network, the node goes on to be Ready
while the plugin is disconnected. The scheduler sends it pods, each of which waits for
the plugin and is rejected.

Add a setting with which a required plugin gates the network: NetworkReady is
false while it is disconnected, with its name and since when, unless the network's own
STATUS has failed, which keeps the reason then. Pods on the host's network need
no such plugin and start without it.

A plugin that restarts must not make the node NotReady each time. So NetworkReady
stays true for a grace period, while pods wait for the plugin as before. It is
false from the start on a node that has booted, until the plugin has come. After
a restart of containerd it is what it was before, for which a file in the state
folder stands: a restart is no reason to mark the node, nor to unmark it.

Show it in the status of NRI, count it, and log each transition once.

Without the setting nothing differs. Pods that run, and clients without CRI, are
not touched. A released containerd ignores the file: its node gets pods at once.`,
	Refs:   []string{"containerd/nri#45", "containerd/nri#142", "containerd/nri#287"},
	Rules:  []string{"L17", "L20"},
	Status: edit.Upstream,
	Until:  "NetworkReady is false while an NRI plugin is disconnected that the operator says gives pods their network",
	Needs:  []string{"containerd/nri-plugin-settings", "containerd/network-status"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`
// stateDir is where it is kept which plugins are there, over restarts of containerd.
stateDir string`),
		edit.In(containerd.PluginConfig, edit.Type("PluginConfig")).AddField(`
// GatesNetwork is whether CRI's NetworkReady is false while the plugin is disconnected, so that
// the node gets no pods. The plugin has to be required for pods. Those on the host's
// network start without it.
GatesNetwork bool ` + "`toml:\"gates_network\" json:\"gatesNetwork\"`" + `
// NetworkGrace is how long a plugin that was there may be disconnected before NetworkReady is
// false. Zero stands for thirty seconds.
NetworkGrace tomlext.Duration ` + "`toml:\"network_grace\" json:\"networkGrace\"`"),
		edit.In(containerd.PluginConfig, edit.Method("Config", "pluginSettings")).After(edit.Key("ExemptNamespaces"), "ExemptHostNetwork:     p.GatesNetwork,"),
		edit.In(containerd.PluginConfig, edit.Method("PluginConfig", "validate")).Before(edit.Stmt(edit.If(`slices.Contains(p.ExemptNamespaces, "")`)),
			`errs = append(errs, p.validateGate()...)
`),
		edit.In("internal/nri/required_status.go", edit.Type("RequiredPluginStatus")).AddField(`
// NetworkGate is nil if the plugin does not gate the network.
NetworkGate *NetworkGate ` + "`json:\"networkGate,omitempty\"`"),
		edit.In("internal/nri/required_status.go", edit.Method("local", "requiredPlugins")).
			Before(edit.Stmt(edit.If("!p.Disconnected.IsZero()")), "s.NetworkGate = l.gates.of(p)\n"),
		edit.In(containerd.LocalNRI, edit.Type("API")).AddField(`
// NetworkGates are the plugins that gate the network, by name.
NetworkGates() []NetworkGate`),
		edit.In(containerd.LocalNRI, edit.Type("local")).AddField("\n\ngates *networkGates // nil if no plugin gates the network"),
		edit.In(containerd.LocalNRI, edit.Func("New")).Before(edit.Stmt(edit.Mentions("queues.of(l.nri)")), `l.gates = newNetworkGates(cfg, l.nri.RequiredPlugins)
`),
		containerd.Local("Start").After(edit.Stmt(edit.If("err != nil")), "l.gates.start()"),
		containerd.Local("Stop").Before(edit.Stmt(edit.Mentions("l.nri.Stop()")), "l.gates.stop()\n"),
		edit.In("plugins/nri/plugin.go", edit.Func("initFunc")).Replace(edit.Expr("ic.Config.(*nri.Config)").Within(edit.Define("l", "err")),
			"ic.Config.(*nri.Config).KeptIn(ic.Properties[plugins.PropertyStateDir])"),
		containerd.Status.After(edit.Stmt(edit.Call("setNetworkCondition")), `gateNetwork(c.nri.NetworkGates(), networkCondition)`),
		containerd.NRIGuide("Requiring Plugins", "mean the same for pods").After(`
A plugin that gives pods their network can also gate the node. While it is disconnected NetworkReady is false, with
reason nriPluginDisconnected and the plugin's name, so that the node gets no pods. A restart of the plugin does not
show: there is a time of grace. Pods on the host's network start without the plugin:

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri".plugins.network-driver]
    required_for = ["pods"]
    gates_network = true
    # 0s: thirty seconds
    network_grace = "30s"
` + "```"),
	},
}
