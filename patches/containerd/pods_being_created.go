// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// PodsBeingCreated tells plugins that join of pods that are being created.
var PodsBeingCreated = edit.Patch{
	Slug:    "pods-being-created",
	Module:  "containerd",
	Subject: "cri,nri: synchronize plugins with pods in creation too",
	Body: `A plugin that registers while a pod is being set up, in a slow CNI ADD for
one, does not find the pod in Synchronize. A pod is only listed once it is in
the sandbox store, which is at the end of its creation.

Keep pods in creation in a list of their own, from their first resource to
the end of RunPodSandbox, and list those first and the store after: so a pod
is in one of the two, or in both, at any moment. It is asked with
RunPodSandbox when its hook comes. If it never comes to that, those that were
told of the pod are told of its end, while its network still stands.`,
	Refs:   []string{"containerd/nri#63", "containerd/nri#286"},
	Rules:  []string{"L2", "L3", "L7"},
	Status: edit.Upstream,
	Until:  "containerd lists pods in creation to NRI plugins that synchronize",
	Edits: []edit.Edit{
		serviceType.AddField(`
// creations are the sandboxes that are being created, and in no store yet.
creations sandboxstore.Creations`),
		edit.In("internal/cri/nri/nri_api.go", edit.Type("CRIImplementation")).AddField(`CreatingSandboxes() *sstore.Creations`),
		edit.In(criNRI, edit.Method("API", "ListPodSandboxes")).Drop(),
		run.MoveBefore(edit.Stmt(edit.Define("sandbox")), edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxNameIndex.ReleaseByName"))))),
		run.After(edit.Stmt(edit.Define("sandbox")), `

// From here on the sandbox is on its way.
creation := c.creations.Begin(sandbox)
defer creation.End()
`),
		run.After(edit.Stmt(edit.Assign("sandbox.Sandboxer")), `

// Plugins that join from here on are told of the sandbox. If it fails, those
// that know it are told of its end by the first of the deferred functions
// that see it fail: while its network and its record stand, as far as it got.
told := false
undoNRI := func() {
	if retErr != nil && !told {
		told = true
		c.nri.UndoRunPodSandbox(&sandbox)
	}
}
defer undoNRI()
`),
		run.Before(edit.Stmt(edit.Define("userNsEnabled")), "defer undoNRI()\n"),
		run.After(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("sandbox.NetNS.Remove")))), "defer undoNRI()"),
		run.Before(edit.Stmt(edit.Call("c.setupPodNetwork")), "defer undoNRI()\n"),
		run.After(edit.Stmt(edit.Call("c.setupPodNetwork")), `creation.Update(sandbox)`),
		run.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.nri.UndoRunPodSandbox")))), `defer undoNRI()`),
	},
}
