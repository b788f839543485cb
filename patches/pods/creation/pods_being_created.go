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
	Body: `Plugins do not receive all pods in Synchronize. The list of pods being
created begins with their network and has nothing but their existence.
Pods in state unknown, which are still to be stopped and removed, are in
no list for plugins. Failures before and after the network are reported
to plugins by different deferred functions.

Replace the list by an object for each creation, from its first resource
to the end of RunPodSandbox. The list of creations is read before the
store, so a pod is in one of the two, or in both, at any moment. The
roll-back begins with the plugins, whatever failed.

Only NRI plugins see this list; CRI's lists and containerd's sandbox
service do not have it. A plugin may now receive pods in Synchronize
that have no address and no process yet, pods in state unknown, and the
stop and removal of a pod for which it receives no RunPodSandbox.`,
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
		containerd.Run.Before(edit.Stmt(edit.Mentions(`"release_name"`)), `// Plugins that register meanwhile know the sandbox. They receive its end first, while
// all that was created of it still exists.
undo.beginWith("tell_plugins", func(ctx context.Context) error { return c.nri.UndoRunPodSandbox(ctx, &sandbox) })`),
		containerd.Run.After(edit.Stmt(edit.Call("c.setupPodNetwork")), `creation.Update(sandbox)`),
	},
}
