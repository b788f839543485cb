// SPDX-License-Identifier: Apache-2.0

package nripodstate

import "github.com/hookline-nri/hookline/internal/edit"

// ProtoPodState proposes a state of pods for NRI's API.
var ProtoPodState = edit.Patch{
	Slug:    "proto-pod-state",
	Module:  "nri",
	Subject: "api: propose a state of pods",
	Body: `A plugin that registers cannot distinguish a pod that is being created from one
that is ready or stopped. Neither can the adaptation, which must know whether it
still has to send the stop.

Propose a state in PodSandbox. Plugins that do not know the field ignore it.
This adds the message alone: "make proto" must follow once it is agreed.`,
	Refs:     []string{"containerd/nri#286", "containerd/containerd#8426"},
	Status:   edit.Hold,
	Hold:     "a change of NRI's API, which its maintainers have to decide",
	Until:    "NRI's PodSandbox has a state",
	Untested: "a proposal of a message, without generated code",
	Edits: []edit.Edit{
		edit.ProtoField("pkg/api/api.proto", "PodSandbox", "ips", `PodState state = 11;`),
		edit.ProtoMessage("pkg/api/api.proto", "PodSandbox", `
// PodState is the state of a pod in its lifecycle.
enum PodState {
  POD_STATE_UNKNOWN = 0;  // not set, or its creation failed and is not rolled back
  POD_STATE_CREATING = 1; // not all plugins have approved it
  POD_STATE_READY = 2;
  POD_STATE_STOPPED = 3; // only its removal follows
}
`),
	},
}
