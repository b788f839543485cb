// SPDX-License-Identifier: Apache-2.0

package creation

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// PodsBeingCreated lists pods that are being created to plugins that register.
var PodsBeingCreated = edit.Patch{
	Slug:    "pods-being-created",
	Module:  "containerd",
	Subject: "cri,nri: include pods being created in Synchronize",
	Body: `The list of pods that are being created begins with their network and says
nothing but that they are there. What fails before is told by one deferred
function, what fails after by others, and a pod in state unknown, which still
has to be stopped and removed, is in no list for plugins.

Make each creation an object of its own, from its first resource to the end of
RunPodSandbox, which takes the place of that list. It is read first and the store
after: so a pod is in one of the two, or in both, at any moment. The roll-back
begins with telling the plugins, whatever failed.

Only NRI plugins see this list; CRI's lists and containerd's sandbox service do
not have it. A plugin may now get pods in Synchronize that have no address and
no process yet, pods in state unknown, and the stop and removal of a pod for
which it gets no RunPodSandbox.`,
	Refs:   []string{"containerd/containerd#13698", "containerd/nri#63", "containerd/nri#286"},
	Rules:  []string{"L2", "L3", "L7"},
	Status: edit.Upstream,
	Until:  "containerd lists pods being created in NRI's Synchronize",
	Needs:  []string{"containerd/undo-in-order", "containerd/creations-listed"},
	Edits: []edit.Edit{
		containerd.ServiceType.Delete(edit.Field("creating")),
		edit.DropFile("internal/cri/server/sandbox_creating.go"),
		edit.DropFile("internal/cri/server/sandbox_creating_linux_test.go"),
		edit.DropFile("internal/cri/store/sandbox/creating.go"),
		containerd.Run.Delete(edit.Stmt(edit.Call("c.creating.Put")).Times(3)),
		containerd.Run.Delete(edit.Stmt(edit.Call("c.creating.Delete"))),
		containerd.Run.Delete(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.endCreating"))))),

		containerd.ServiceType.AddField(`
// creations are the sandboxes that are being created, and in no store yet.
creations sandboxstore.Creations`),
		edit.In("internal/cri/nri/nri_api.go", edit.Type("CRIImplementation")).Replace(edit.Field("CreatingSandboxes"), `CreatingSandboxes() *sstore.Creations`),
		edit.In(containerd.CRINRI, edit.Method("API", "ListPodSandboxes")).Drop(),
		containerd.Run.After(edit.Stmt(edit.Define("sandbox")), `

// From here on the sandbox is being created.
creation := c.creations.Begin(sandbox)
defer creation.End()
`),
		containerd.Run.Delete(edit.Stmt(edit.All(edit.Call("undo.pushTry"), edit.Has(edit.Call("c.nri.UndoRunPodSandbox"))))),
		containerd.Run.Before(edit.Stmt(edit.Mentions(`"release_name"`)), `// Plugins that register meanwhile know the sandbox. They are told first, while as
// much of it as was made still exists.
undo.beginWith("tell_plugins", func(ctx context.Context) error { return c.nri.UndoRunPodSandbox(ctx, &sandbox) })`),
		containerd.Run.After(edit.Stmt(edit.Call("c.setupPodNetwork")), `creation.Update(sandbox)`),
	},
}
