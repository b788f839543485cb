// SPDX-License-Identifier: Apache-2.0

package networkbyplugin

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

const (
	gate  = "internal/nri/network_gate.go" // of plugin-gates-network
	gates = "internal/nri/network_gates.go"
)

// NetworkByPlugin lets an NRI plugin give pods their network, without CNI.
var NetworkByPlugin = edit.Patch{
	Slug:    "network-by-plugin",
	Module:  "containerd",
	Subject: "cri,nri: let an NRI plugin give pods their network",
	Body: `An NRI plugin can make the interfaces of a pod when it receives
RunPodSandbox. The node needs a CNI configuration all the same: without
one it is not Ready, and its pods have no addresses in CRI. So drivers run
beside CNI, or bring a CNI plugin that asks them.

Add a setting with the name of the plugin that gives pods their network.
No CNI plugin runs for a pod with a network of its own then: neither ADD
nor DEL, and CNI's STATUS does not count. The pod is recorded with the
plugin's name before its namespace exists. The plugin is asked first of
all plugins, and its reply has the interfaces, addresses, routes and DNS,
which are recorded before any other plugin is asked. StopPodSandbox is
where the plugin takes the network down, and is delivered later if the
plugin is disconnected. The loopback is brought up by containerd.

These pods require the plugin, and it gates the network, as with the
settings of these names. It may also report that its network takes no
pods: NetworkReady is false then, with its reason, and pods fail fast.

A kill of containerd during StopPodSandbox must not make such a pod ready
again, since its network may have gone. So the state folder notes the
begin of the stop. Sysctls of the pod's interfaces are set when the plugin
has made them.

A runtime handler with a CNI configuration of its own keeps CNI, such as
one whose virtual machine takes over the interfaces before the hook.

The result of CNI in the record of such a pod is empty, so that a released
containerd stops it without a CNI configuration. It shows the addresses.
Without the setting nothing changes, and pods keep the kind of network
that they were created with.`,
	Refs:   []string{"containerd/nri#295", "containerd/nri#267", "containerd/nri#57"},
	Rules:  []string{"N5", "N6", "N7"},
	Status: edit.Hold,
	Hold:   "NRI's messages have no such fields: they are proposed in nri/proto-pod-network",
	Until:  "an NRI plugin can give pods their network in containerd",
	Needs:  []string{"nri/pod-network", "containerd/plugin-gates-network", "containerd/network-beside-pause"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).Before(edit.Field("rootDir"), `// Network is the plugin that gives pods their network in place of CNI, by its name with the index or
// without it. These pods require it, and it gates the network. If empty, CNI does.
Network string `+"`toml:\"network\" json:\"network\"`"+`

`),
		edit.In(containerd.PluginConfig, edit.Method("Config", "validatePlugins")).Before(edit.Stmt(edit.If("c.PluginTimeoutCeiling < 0")), `errs = append(errs, c.validateNetwork()...)
`),
		edit.In(containerd.LocalNRI, edit.Func("New")).Before(edit.Stmt(edit.If("cfg.Disable && cfg.requiresPlugins()")), `cfg.nameNetwork()
`),
		edit.In(containerd.PluginConfig, edit.Type("PluginConfig")).AddField("\n\ngivesNetwork bool // whether it is that of Config.Network"),
		edit.In(containerd.PluginConfig, edit.Method("Config", "requiresPlugins")).Replace(edit.Expr("len(p.RequiredFor) > 0"), "len(p.RequiredFor) > 0 || p.givesNetwork"),
		edit.In(containerd.PluginConfig, edit.Method("Config", "pluginSettings")).After(edit.Key("RequiredForContainers"), "Network:               p.givesNetwork,"),
		edit.In(gate, edit.Method("PluginConfig", "validateGate")).Replace(edit.Expr("p.GatesNetwork && !slices.Contains(p.RequiredFor, forPods)"), "p.GatesNetwork && !p.givesNetwork && !slices.Contains(p.RequiredFor, forPods)"),
		edit.In(containerd.LocalNRI, edit.Type("API")).AddField(`
// NetworkPlugin returns the plugin that gives pods their network, empty if CNI does.
NetworkPlugin() string`),
		containerd.Local("RunPodSandbox").Replace(edit.Expr("l.nri.RunPodSandbox(ctx, request)"), `l.nri.ConnectPodSandbox(ctx, request, func(network *nri.PodNetwork) ([]string, error) {
	return pod.TakeNetwork(ctx, network)
})`),
		edit.AddImport(containerd.NRISandbox, "context"),
		containerd.NRIPod.AddField(`
// GetNetworkPlugin returns the plugin that gives the pod its network, empty if none does.
GetNetworkPlugin() string
// TakeNetwork records the network that the plugin has given, and returns the pod's addresses.
TakeNetwork(context.Context, *nri.PodNetwork) ([]string, error)`),
		containerd.PodToNRI.After(edit.Stmt(edit.Call("podstate.Set")), `if plugin := pod.GetNetworkPlugin(); plugin != "" {
	nri.SetNetworkPlugin(nriPod, plugin)
}`),
		edit.In(gate, edit.Type("NetworkGate")).AddField(`
// Network is why the plugin's network takes no pods, nil if it takes them.
Network *nri.PodNetworkStatus ` + "`json:\"network,omitempty\"`"),
		edit.In(gate, edit.Method("gate", "closed")).Before(edit.Top(), `if p.Network != nil {
	return true
}
`),
		edit.In(gates, edit.Method("networkGates", "of")).Replace(edit.Expr("p.Disconnected").Within(edit.Define("s")), "p.Disconnected, Network: p.Network"),
		edit.In(gates, edit.Method("networkGates", "note")).Before(edit.Stmt(edit.If("s.Closed")), `if s.Network != nil {
	networkGateTransitions.WithValues(s.Plugin, "closed").Inc()
	entry.Warnf("network takes no pods: %s", s.Network.Reason())
	return
}
`),
		edit.AddImport("internal/cri/nri/nri_api.go", "github.com/containerd/nri/pkg/adaptation"),
		edit.In("internal/cri/nri/nri_api.go", edit.Type("CRIImplementation")).AddField(`
TakeNetwork(context.Context, *sstore.Sandbox, *adaptation.PodNetwork) ([]string, error)`),
		edit.In(containerd.CRINRI, edit.Method("API", "nriPodSandbox")).Replace(edit.Key("Sandbox"), "cri:     a.cri,\nSandbox: pod,"),
		containerd.PodType.AddField("\n\ncri CRIImplementation"),
		edit.In("internal/cri/store/sandbox/metadata.go", edit.Type("Metadata")).AddField(`
// GivenNetwork is the network that an NRI plugin gives the sandbox, nil if none does.
GivenNetwork *GivenNetwork ` + "`json:\",omitempty\"`"),
		edit.In("internal/cri/store/sandbox/network.go", edit.Method("Metadata", "CopyNetwork")).After(edit.Stmt(edit.Assign("m.CNIResult")), `m.GivenNetwork = attached.GivenNetwork`),
		containerd.Run.Before(edit.Stmt(edit.Define("creation")), `sandbox.GivenNetwork = c.givenNetwork(config, r.GetRuntimeHandler())
`),
		containerd.Run.Replace(edit.Stmt(edit.Assign("network")), `if sandbox.GivenNetwork == nil {
	network = c.beginAttachment(ctx, sandbox, sandboxInfo, besideNetwork(ociRuntime, runtimeOpts, config) && c.networkPace.enter(c.config.NetworkAddsBesidePause))
} else if err := c.bringUpLoopback(sandbox.NetNSPath); err != nil {
	return nil, fmt.Errorf("unable to set lo to up: %w", err)
}`),
		containerd.CRIMethod(containerd.SandboxStop, "teardownPodNetwork").Before(edit.Top(), `if sandbox.GivenNetwork != nil {
	return nil // its plugin has received StopPodSandbox
}
`),
		containerd.Stop.Before(edit.Stmt(edit.Mentions(`"StopPodSandbox"`)), "c.noteStop(ctx, &sandbox)\n"),
		edit.In("internal/cri/store/sandbox/phase.go", edit.Func("read")).Replace(edit.Expr("PhaseCreating"), "PhaseCreating, PhaseStopping"),
		edit.In("internal/cri/server/recover_phase.go", edit.Func("ranPast")).Replace(edit.Expr("phase != sandboxstore.PhaseStopped"), "phase != sandboxstore.PhaseStopped && phase != sandboxstore.PhaseStopping"),
		edit.In("internal/cri/server/podsandbox/sandbox_run.go", edit.Method("Controller", "Start")).Replace(edit.Expr("metadata.Config").Within(edit.Declare("config")), "WithoutInterfaceSysctls(&metadata, metadata.Config)"),
		containerd.Run.Replace(edit.Expr("config").Within(edit.Call("c.withSysctls")), "podsandbox.WithoutInterfaceSysctls(&sandbox.Metadata, config)"),
		edit.In("internal/cri/server/sandbox_status.go", edit.Func("toDeletedCRISandboxInfo")).Replace(edit.Expr("sandbox.CNIResult"), "sandbox.NetworkResult()"),
		edit.In("internal/cri/server/sandbox_prompt.go", edit.Method("promptSandboxService", "SandboxStatus")).Replace(edit.Expr("sandbox.CNIResult"), "sandbox.NetworkResult()"),
		edit.In("internal/cri/server/podsandbox/sandbox_status.go", edit.Func("toCRISandboxInfo")).Replace(edit.Expr("sb.Metadata.CNIResult"), "sb.Metadata.NetworkResult()"),
		containerd.Status.After(edit.Stmt(edit.Call("setNetworkCondition")), `if c.nri.NetworkPlugin() != "" {
	networkCondition.Status, networkCondition.Reason, networkCondition.Message = true, "", "" // CNI's does not count
}`),
		containerd.CRIMethod("internal/cri/server/pod_network.go", "admitToNetwork").After(edit.Stmt(edit.If("!c.config.NetworkStatusGate || hostNetwork(config)")), `if c.givenNetwork(config, handler) != nil {
	return c.admitByPlugin(config)
}`),
		edit.In("internal/cri/server/pod_network_gates.go", edit.Func("gateNetwork")).Replace(edit.Expr("nriPluginDisconnected"), "gateReason(gates)"),
		edit.In("internal/cri/server/pod_network_gates.go", edit.Func("gateMessage")).Before(edit.Top(), `if g.Network != nil {
	return fmt.Sprintf("plugin %s takes no pods: %s", g.Plugin, g.Network.Reason())
}
`),
		containerd.NRIGuide("Requiring Plugins", "A plugin that gives pods their network can also gate the node").After(`
A plugin can also give pods their network, in place of CNI. It is required for pods with a network of their own, and gates
the node as above:

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri"]
    network = "network-driver"
` + "```" + `

The plugin makes the interfaces of a pod when it receives RunPodSandbox, and returns the addresses. StopPodSandbox is where it
removes them. A runtime handler with a CNI configuration of its own keeps CNI.
`),
	},
}
