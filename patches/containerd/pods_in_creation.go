// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// PodsInCreation tells plugins that join of pods that are being created.
var PodsInCreation = edit.Patch{
	Slug:    "cri-nri-pods-in-creation",
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
		edit.In(criNRI, edit.Type("API")).AddField(`

creating creations`),
		edit.In(criNRI, edit.Method("API", "ListPodSandboxes")).Drop(),
		edit.In("internal/cri/nri/undo_linux.go", edit.Method("API", "UndoRunPodSandbox")).
			After(edit.Stmt(edit.If("a.IsDisabled()")), `if !a.creating.undo(criPod.ID) {
	return
}`),
		run.After(edit.Stmt(edit.Assign("sandbox.Sandboxer")), `

// Plugins that join from here on are told of the pod. If it fails, those that
// know it are told of its end by the first of the deferred functions that see
// it fail: while its network and its record stand, as far as it got.
defer c.nri.CreatingPodSandbox(sandbox)()
undoNRI := func() {
	if retErr != nil {
		c.nri.UndoRunPodSandbox(&sandbox)
	}
}
defer undoNRI()
`),
		run.Before(edit.Stmt(edit.Define("userNsEnabled")), "defer undoNRI()\n"),
		run.After(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("sandbox.NetNS.Remove")))), "defer undoNRI()"),
		run.Before(edit.Stmt(edit.Call("c.setupPodNetwork")), "defer undoNRI()\n"),
		run.After(edit.Stmt(edit.Call("c.setupPodNetwork")), `c.nri.CreatingPodSandbox(sandbox)`),
	},
	Files: []edit.File{
		{From: "patches/containerd/files/internal/cri/nri/creation_linux.go", To: "internal/cri/nri/creation_linux.go"},
		{From: "patches/containerd/files/internal/cri/nri/creation_other.go", To: "internal/cri/nri/creation_other.go"},
		{From: "patches/containerd/files/internal/cri/nri/creation_linux_test.go", To: "internal/cri/nri/creation_linux_test.go"},
	},
}

var run = edit.In(sandboxRun, edit.Method("criService", "RunPodSandbox"))
