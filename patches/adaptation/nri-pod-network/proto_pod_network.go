// SPDX-License-Identifier: Apache-2.0

package nripodnetwork

import "github.com/hookline-nri/hookline/internal/edit"

const proto = "pkg/api/api.proto"

// ProtoPodNetwork proposes the network of a pod for NRI's API.
var ProtoPodNetwork = edit.Patch{
	Slug:    "proto-pod-network",
	Module:  "nri",
	Subject: "api: propose that a plugin gives a pod its network",
	Body: `A plugin can make the network of a pod when it receives RunPodSandbox. It
cannot tell the runtime which addresses the pod has, so that pods still
need CNI for their status. Nor can it say that its network takes no pods
for now, as a CNI plugin says with STATUS.

Propose the network in the reply to RunPodSandbox: an envelope that has
interfaces, routes and DNS, and can have more. Propose a status of the
network in the two messages that a plugin can send at its start and later.
A pod names the plugin, so that no other one makes its network, too.

Plugins and runtimes that do not know the fields ignore them.
This adds the fields alone: "make proto" must follow once it is agreed.`,
	Refs:     []string{"containerd/nri#295", "containerd/nri#267", "containerd/nri#57"},
	Status:   edit.Hold,
	Hold:     "a change of NRI's API, which its maintainers have to decide",
	Until:    "a reply to RunPodSandbox can have the pod's network",
	Untested: "a proposal of messages, without generated code",
	Edits: []edit.Edit{
		edit.ProtoField(proto, "PodSandbox", "ips", `string network_plugin = 12; // the plugin that gives the pod its network, empty if none does`),
		edit.ProtoField(proto, "RunPodSandboxResponse", "", `PodNetwork network = 1; // only of the plugin that gives the pod its network`),
		edit.ProtoField(proto, "SynchronizeResponse", "more", `PodNetworkStatus network_status = 3;`),
		edit.ProtoField(proto, "UpdateContainersRequest", "evict", `PodNetworkStatus network_status = 3;`),
		edit.ProtoMessage(proto, "RunPodSandboxResponse", `
// PodNetwork is what a plugin has made of the network of a pod.
message PodNetwork {
  repeated PodNetworkInterface interfaces = 1; // without the loopback; the pod has the addresses of the first
  repeated PodNetworkRoute routes = 2;
  PodNetworkDNS dns = 3; // what the network offers
}

message PodNetworkInterface {
  string name = 1;               // in the pod's namespace
  repeated string addresses = 2; // each with the length of its prefix; the first one is preferred
  string mac = 3;
}

message PodNetworkRoute {
  string destination = 1; // a network
  string gateway = 2;     // an address, or empty
}

message PodNetworkDNS {
  repeated string servers = 1;
  string domain = 2;
  repeated string searches = 3;
  repeated string options = 4;
}

// PodNetworkStatus is whether a plugin's network takes pods.
message PodNetworkStatus {
  uint32 code = 1; // 0 if it does, else that of a CNI STATUS: 50, or 51 if pods that exist are affected, too
  string message = 2;
}
`),
	},
}
