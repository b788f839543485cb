// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// PodState sends plugins the state of each pod.
var PodState = edit.Patch{
	Slug:    "pod-state",
	Module:  "containerd",
	Subject: "cri,nri: send plugins the state of a pod",
	Body: `A plugin that registers cannot distinguish a pod that is being created
from a pod that is ready or stopped. Neither can NRI, which has to know
whether StopPodSandbox is still to be sent.

Set the state in every event and in Synchronize, in a provisional field:
creating until the last plugin approved, ready until the pod is stopped,
then stopped. It is unknown for a pod whose creation failed or was
interrupted and is not rolled back yet. StopPodSandbox is still to be
sent for such a pod.

A plugin or a release of NRI without the field ignores it. CRI's own
states, events and records do not change. A pod that was stopped by a
containerd without this patch counts as ready until it is stopped again
or removed.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#8426"},
	Rules:  []string{"L2", "L15"},
	Status: edit.Hold,
	Hold:   "NRI's PodSandbox has no state: the field is proposed in nri/proto-pod-state",
	Until:  "NRI's PodSandbox has a state and containerd sets it",
	Needs:  []string{"nri/pod-state", "containerd/patched-nri", "containerd/sandbox-phase"},
	Edits: []edit.Edit{
		containerd.NRIPod.AddField(`
GetState() podstate.State`),
		edit.AddImport(containerd.NRISandbox, "github.com/containerd/containerd/v2/internal/nri/podstate"),
		containerd.PodToNRI.After(edit.Stmt(edit.Define("nriPod")),
			`podstate.Set(nriPod, pod.GetState())`),
		edit.AddImport(containerd.NRISandboxLinux, "github.com/containerd/containerd/v2/internal/nri/podstate"),
		containerd.PodType.AddField(`

creating bool`),
		edit.In(containerd.CRINRI, edit.Method("API", "nriPodSandbox")).Before(edit.Stmt(edit.Assign("criPod.pid")),
			`criPod.creating = a.cri.CreatingSandboxes().Has(pod.ID)`),
	},
	Packages: []edit.Package{{
		From:   "podstate/internal/nri/podstate",
		To:     "internal/nri/podstate",
		Except: []string{"testdata"},
	}},
}
