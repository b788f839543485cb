// SPDX-License-Identifier: Apache-2.0

package currentpodresources

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// CurrentPodResources tells plugins the resources that a pod has, not those that it was created
// with.
var CurrentPodResources = edit.Patch{
	Slug:    "current-pod-resources",
	Module:  "containerd",
	Subject: "cri,nri: tell plugins the resources that a pod has now",
	Body: `NRI plugins receive the resources of a pod and its overhead from the
config with which the pod was created. After UpdatePodSandboxResources
that is no longer what the pod has: PostUpdatePodSandbox, every later
event, and Synchronize of a plugin that registers carry the old values.

Take them from the record of the sandbox, where the update is kept for a
restart of containerd, for all controllers of sandboxes. UpdatePodSandbox
itself still carries the pod as it was before the update.`,
	Refs:   []string{"kubernetes/kubernetes#137555"},
	Rules:  []string{"L26"},
	Status: edit.Upstream,
	Until:  "containerd tells NRI plugins the updated resources of a pod",
	Edits: []edit.Edit{
		edit.AddImport(containerd.CRINRI, "cmp"),
		edit.AddImport(containerd.CRINRI, "github.com/containerd/containerd/v2/internal/cri/server/podsandbox"),
		containerd.PodType.AddField("\n\nupdated podsandbox.UpdatedResources // since the pod was created"),
		edit.In(containerd.CRINRI, edit.Method("API", "nriPodSandbox")).After(edit.Stmt(edit.Assign("criPod.labels")), `criPod.updated = updatedResources(&sandboxInfo)`),
		edit.In(containerd.CRINRI, edit.Method("criPodSandbox", "GetPodLinuxOverhead")).Replace(
			edit.Expr("p.Config.GetLinux().GetOverhead()"), "cmp.Or(p.updated.Overhead, p.Config.GetLinux().GetOverhead())"),
		edit.In(containerd.CRINRI, edit.Method("criPodSandbox", "GetPodLinuxResources")).Replace(
			edit.Expr("p.Config.GetLinux().GetResources()"), "cmp.Or(p.updated.Resources, p.Config.GetLinux().GetResources())"),
	},
}
