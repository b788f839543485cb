// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// PodState tells NRI where a pod is in its life.
var PodState = edit.Patch{
	Slug:    "pod-state",
	Module:  "containerd",
	Subject: "cri,nri: tell plugins where a pod is in its life",
	Body: `Plugins that join cannot tell a pod that is being created from one that is
ready or stopped, and neither can NRI, which has to know what of the pod's end
lies in the past.

Set the state in every event and in Synchronize, in a provisional field: in
creation until the last hook agreed, ready until it is stopped, then stopped.
Of a pod whose creation failed or was cut, and could not be undone yet, the
state is not known; its stop is to come.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#8426"},
	Rules:  []string{"L2", "L15"},
	Status: edit.Upstream,
	Until:  "NRI's PodSandbox has a state and containerd sets it",
	Edits: []edit.Edit{
		nriPod.AddField(`
GetState() podstate.State`),
		edit.AddImport(nriSandbox, "github.com/containerd/containerd/v2/internal/nri/podstate"),
		podToNRI.After(edit.Stmt(edit.Define("nriPod")),
			`podstate.Set(nriPod, pod.GetState())`),
		edit.AddImport(nriSandboxLinux, "github.com/containerd/containerd/v2/internal/nri/podstate"),
		podType.AddField(`

creating bool`),
		edit.In(criNRI, edit.Method("API", "nriPodSandbox")).Before(edit.Stmt(edit.Assign("criPod.pid")),
			`criPod.creating = a.cri.CreatingSandboxes().Has(pod.ID)`),
	},
	Packages: []edit.Package{{
		From:   "internal/nri/podstate",
		To:     "internal/nri/podstate",
		Except: []string{"testdata"},
	}},
}
