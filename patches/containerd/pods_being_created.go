// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// PodsBeingCreated lists pods that are being created to plugins that register.
var PodsBeingCreated = edit.Patch{
	Slug:    "pods-being-created",
	Module:  "containerd",
	Subject: "cri,nri: include pods being created in Synchronize",
	Body: `A plugin that registers while a pod is being created, during a slow CNI ADD
for instance, does not find the pod in Synchronize. A pod is only listed once
it is in the sandbox store, which is at the end of its creation.

Keep pods being created in a list of their own, from their first resource to
the end of RunPodSandbox, and read that list first and the store after: so a
pod is in one of the two, or in both, at any moment. The plugin gets
RunPodSandbox when the pod's creation comes to the hook. If it fails before
that, plugins that know the pod get StopPodSandbox and RemovePodSandbox, while
its network still exists.

Only NRI plugins see this list; CRI's lists and containerd's sandbox service do
not have it. A plugin may now get pods in Synchronize that have no address and
no process yet, pods in state unknown, and the stop and removal of a pod for
which it gets no RunPodSandbox.`,
	Refs:   []string{"containerd/containerd#13698", "containerd/nri#63", "containerd/nri#286"},
	Rules:  []string{"L2", "L3", "L7"},
	Status: edit.Upstream,
	Until:  "containerd lists pods being created in NRI's Synchronize",
	Needs:  []string{"containerd/undo-in-order"},
	Edits: []edit.Edit{
		serviceType.AddField(`
// creations are the sandboxes that are being created, and in no store yet.
creations sandboxstore.Creations`),
		edit.In("internal/cri/nri/nri_api.go", edit.Type("CRIImplementation")).AddField(`CreatingSandboxes() *sstore.Creations`),
		edit.In(criNRI, edit.Method("API", "ListPodSandboxes")).Drop(),
		run.After(edit.Stmt(edit.Define("sandbox")), `

// From here on the sandbox is being created.
creation := c.creations.Begin(sandbox)
defer creation.End()
`),
		run.Delete(edit.Stmt(edit.All(edit.Call("undo.pushTry"), edit.Has(edit.Call("c.nri.UndoRunPodSandbox"))))),
		run.Before(edit.Stmt(edit.Mentions(`"release_name"`)), `// Plugins that register meanwhile know the sandbox. They are told first, while as
// much of it as was made still exists.
undo.beginWith("tell_plugins", func(ctx context.Context) error { return c.nri.UndoRunPodSandbox(ctx, &sandbox) })`),
		run.After(edit.Stmt(edit.Call("c.setupPodNetwork")), `creation.Update(sandbox)`),
	},
}
