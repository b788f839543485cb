// SPDX-License-Identifier: Apache-2.0

package nripodstate

import "github.com/hookline-nri/hookline/internal/edit"

const synchronization = "pkg/adaptation/synchronization.go"

// PodState marks in the ledger the pods that were stopped before the runtime started.
var PodState = edit.Patch{
	Slug:    "pod-state",
	Module:  "nri",
	Subject: "adaptation: read the state of a pod when plugins synchronize",
	Body: `After a restart of the runtime, plugins that join receive a pod that was stopped
before the restart like any other. When the pod is removed, they also receive a
stop that lies in the past. Messages of NRI have no state of a pod.

Read the state from a provisional field. Runtimes may set it, and plugins that
do not know it ignore it. A stopped pod is in Synchronize, and only its removal
follows. A pod that is being created is in it as well. If the runtime wants
that, it is left out for plugins that are going to be asked for it.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#8426"},
	Rules:  []string{"L2", "L15"},
	Status: edit.Hold,
	Hold:   "NRI's PodSandbox has no state: the field is proposed in nri/proto-pod-state",
	Until:  "NRI's PodSandbox has a state",
	Needs:  []string{"nri/proto-pod-state", "nri/adaptation-engine"},
	Edits: []edit.Edit{
		edit.In(synchronization, edit.Func("snapshotOf")).Replace(
			edit.Expr("lifecycle.Object{Pod: pod.GetId(), Value: pod}"),
			`lifecycle.Object{Pod: pod.GetId(), Stopped: podstate.Get(pod) == podstate.Stopped, Creating: podstate.Get(pod) == podstate.Creating, Value: pod}`),
		edit.In(synchronization, edit.Func("objects")).Before(edit.Stmt(edit.Assign("pods")), `if o.Stopped && podstate.Get(pod) != podstate.Stopped { // listed before it stopped
	pod = proto.Clone(pod).(*PodSandbox) // other plugins receive the same list
	podstate.Set(pod, podstate.Stopped)
}`),
		edit.AddImport(synchronization, "google.golang.org/protobuf/proto"),
		edit.AddImport(synchronization, "github.com/containerd/nri/internal/podstate"),
	},
	Packages: []edit.Package{{
		From:   "podstate/internal/nri/podstate",
		To:     "internal/podstate",
		Except: []string{"testdata"},
	}},
}
