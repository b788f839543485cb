// SPDX-License-Identifier: Apache-2.0

package nripodnetwork

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

const (
	required = "pkg/adaptation/required_metrics.go" // of nri/required-plugins
	settings = "pkg/adaptation/plugin_settings.go"
)

// PodNetwork takes the network of a pod from the reply of a plugin.
var PodNetwork = edit.Patch{
	Slug:    "pod-network",
	Module:  "nri",
	Subject: "adaptation: let a plugin give a pod its network",
	Body: `A plugin can make the interfaces of a pod in RunPodSandbox, but nothing
takes its addresses: pods have those of CNI, or none.

Let a runtime name the plugin that gives a pod its network
(SetNetworkPlugin). The pod requires this plugin, which is asked before all
others: their requests have the addresses. ConnectPodSandbox passes the
network from the reply to the runtime, before any other plugin is asked. A
network without an address, or above fixed bounds, rejects the pod. Replies
of other plugins are not looked at.

Let that plugin say whether its network takes pods, in its answer to
Synchronize and at any time after that with UpdateContainers. Its last
status is in RequiredPlugins until its connection ends.

Nothing changes for a pod that names no plugin. The fields of the messages
are provisional.`,
	Refs:   []string{"containerd/nri#295", "containerd/nri#267", "containerd/nri#57"},
	Rules:  []string{"N5", "N7"},
	Status: edit.Hold,
	Hold:   "NRI's messages have no such fields: they are proposed in nri/proto-pod-network",
	Until:  "a reply to RunPodSandbox can have the pod's network",
	Needs:  []string{"nri/proto-pod-network", "nri/required-plugins"},
	Edits: []edit.Edit{
		edit.In("pkg/adaptation/engine.go", edit.Method("Adaptation", "newEngine")).Replace(edit.Key("Required"), "Required:       r.demands"),
		edit.AddImport(nri.PluginFile, "github.com/containerd/nri/internal/podnetwork"),
		edit.In(nri.PluginFile, edit.Type("plugin")).AddField(`

network atomic.Pointer[podnetwork.Status] // the status of its network, nil if it has reported none`),
		edit.In(nri.PluginFile, edit.Method("plugin", "synchronize")).Before(edit.Stmt(edit.Return("rpl.Update", "nil")), `if _, err := p.takeStatus(rpl); err != nil {
	return nil, err
}
`),
		edit.In("pkg/adaptation/changes.go", edit.Method("plugin", "UpdateContainers")).After(edit.Stmt(edit.If("!p.admitted.Load()")), `if said, err := p.takeStatus(req); err != nil || said && len(req.Update)+len(req.Evict) == 0 {
	return &UpdateContainersResponse{}, err
}`),
		edit.In(required, edit.Type("RequiredPlugin")).AddField(`

Network *PodNetworkStatus // why its network takes no pods, nil if it takes them or has none`),
		edit.In(required, edit.Method("Adaptation", "RequiredPlugins")).Replace(edit.Expr("RequiredPlugin{name, r.engine.DisconnectedSince(name)}"),
			"RequiredPlugin{name, r.engine.DisconnectedSince(name), r.rejectsPods(name)}"),
		edit.In(settings, edit.Type("PluginSettings")).Before(edit.Field("ExemptNamespaces"), `// Network is whether pods may name the plugin as that of their network (SetNetworkPlugin), and
// then require it. RequiredPlugins lists it, with the status of its network.
Network bool
`),
		edit.In(settings, edit.Func("WithPluginSettings")).Replace(edit.Expr("s.RequiredForPods || s.RequiredForContainers"),
			"s.RequiredForPods || s.RequiredForContainers || s.Network"),
	},
	Packages: []edit.Package{{
		From: "plugin/podnetwork",
		To:   "internal/podnetwork",
	}},
}
