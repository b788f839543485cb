// SPDX-License-Identifier: Apache-2.0

package plugingatesnetwork

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// PluginGatesNetwork makes NetworkReady false while a required plugin is disconnected.
var PluginGatesNetwork = edit.Patch{
	Slug:    "plugin-gates-network",
	Module:  "containerd",
	Subject: "cri,nri: report a disconnected required plugin in NetworkReady",
	Body: `If an NRI plugin gives pods their network, the node stays Ready while
the plugin is disconnected. The scheduler sends pods to the node, which
wait for the plugin and are rejected.

Add a setting with which a required plugin gates the network:
NetworkReady is false while the plugin is disconnected, with the
plugin's name and since when. If the network's own STATUS has failed,
its reason stays. Pods on the host's network do not need such a plugin,
and start without it.

A plugin that restarts must not make the node NotReady each time. So
NetworkReady stays true for a grace period, while pods wait for the
plugin as before. On a node that has booted it is false until the plugin
has connected. After a restart of containerd it has its earlier value,
which a file in the state folder records: a restart changes nothing for
the node.

Show the gate in the status of NRI, add metrics, and log each transition
once.

Without the setting, nothing changes. Running pods, and clients other
than CRI's, are not affected. A released containerd ignores the file,
and its node receives pods at once.`,
	Refs:   []string{"containerd/nri#45", "containerd/nri#142", "containerd/nri#287"},
	Rules:  []string{"L17", "L20"},
	Status: edit.Upstream,
	Until:  "NetworkReady is false while an NRI plugin that the operator requires for the network of pods is disconnected",
	Needs:  []string{"containerd/nri-plugin-settings", "containerd/network-status"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`
// stateDir is the folder that keeps, over restarts of containerd, which gates are open.
stateDir string`),
		edit.In(containerd.PluginConfig, edit.Type("PluginConfig")).AddField(`
// GatesNetwork is whether CRI's NetworkReady is false while the plugin is disconnected, so that
// the node receives no pods. The plugin must be required for pods. Pods on the host's network
// start without it.
GatesNetwork bool ` + "`toml:\"gates_network\" json:\"gatesNetwork\"`" + `
// NetworkGrace is how long a plugin that was connected may be disconnected before NetworkReady
// is false. Zero stands for thirty seconds.
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
// NetworkGates returns the plugins that gate the network, by name.
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
A plugin that gives pods their network can also gate the node. While the plugin is disconnected, NetworkReady is false,
with reason NRIPluginDisconnected and the plugin's name, so that the node receives no pods. A grace period keeps the node
Ready while the plugin restarts. Pods on the host's network start without the plugin:

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri".plugins.network-driver]
    required_for = ["pods"]
    gates_network = true
    # 0s: thirty seconds
    network_grace = "30s"
` + "```"),
	},
}
