// SPDX-License-Identifier: Apache-2.0

package undo

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// UndoInOrder rolls a failed RunPodSandbox back in reverse order. A sandbox that
// cannot be rolled back stays listed, so that the kubelet removes it.
var UndoInOrder = edit.Patch{
	Slug:    "undo-in-order",
	Module:  "containerd",
	Subject: "cri: roll back all of a failed RunPodSandbox, in order",
	Body: `A RunPodSandbox that fails can leave resources behind that nobody owns.

The record of the sandbox is deleted under the context of the request. If
the caller gave up, that fails: the record stays, and so does the name, which
is not released as the clean-up is not complete. The sandbox is not in the
store either, since that was decided before: nobody can remove it until
containerd restarts.

A sandbox that was created by its controller is shut down only if it was
started as well. If the pause image cannot be pulled, the shim of a sandboxer
keeps running, and the pod sandbox controller never forgets the sandbox. An
error of the controller's clean-up is lost when a later step overwrites it.

A lease that cannot be deleted is logged, and leaks.

A roll-back is ten deferred functions that tell one another by variables what to
leave. Where one step has used up the time of a context that another shares, as
a stop of the sandbox that hangs, the other has none.

Keep what there is to take back in a stack, to which each step of the creation
adds, and go through it in one place: from CreateSandbox on, each step under a
context of its own and with its own time. A step that fails keeps what was made
before it. Then the sandbox goes into the store, where the kubelet sees it as
not ready and removes it. The lease is deleted before the record, so that an
owner outlives what it owns, and a lease that cannot be deleted keeps its
owner. The roll-back and each of its steps are spans.

A controller gets StopSandbox and ShutdownSandbox also after a StartSandbox that
failed, or that was never called. NotFound counts as done, which is what the
controller of shims answers after its own clean-up. Any other error of Shutdown
keeps the pod, not ready, in the list. So a remote controller that forgets a
sandbox when its start fails has to answer NotFound or success.`,
	Refs:   []string{"kubernetes-sigs/cri-tools#2046", "containerd/containerd#13355", "containerd/containerd#13859"},
	Rules:  []string{"L7"},
	Status: edit.Upstream,
	Until:  "RunPodSandbox rolls back its record, lease and sandbox under a context that outlives the request, whatever failed",
	Needs:  []string{"containerd/undo-rejected-pod"},
	Edits: []edit.Edit{
		// One place for the roll-back, and the name.
		containerd.Run.MoveBefore(edit.Stmt(edit.Define("sandbox")), edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxNameIndex.ReleaseByName"))))),
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxNameIndex.ReleaseByName")))), `// What is made from here on is taken back if a later step fails.
undo := undoStack{sandbox: id}
defer func() {
	if retErr == nil {
		return
	}
	if cleanupErr = undo.run(ctx, cleanupErr); cleanupErr != nil {
		c.keepSandbox(ctx, sandbox, cleanupErr)
	}
}()
undo.push("release_name", func(context.Context) error {
	c.sandboxNameIndex.ReleaseByName(name)
	return nil
})`),
		containerd.Run.Delete(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxStore.Add"))))),

		// The record, then the lease.
		containerd.Run.MoveAfter(edit.Stmt(edit.Define("leaseSvc")).And(3),
			edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.client.SandboxStore().Delete"))))),
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.client.SandboxStore().Delete")))), `undo.push("delete_record", func(ctx context.Context) error {
	return unlessNotFound(c.client.SandboxStore().Delete(ctx, id))
})
`),
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("leaseSvc.Delete")))), `undo.push("delete_lease", func(ctx context.Context) error {
	return unlessNotFound(leaseSvc.Delete(ctx, ls))
})`),

		// The network.
		containerd.Run.Delete(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("sandbox.NetNS.Remove"))))),
		containerd.Run.Before(edit.Stmt(edit.If("!userNsEnabled")), `// A namespace may be mounted though its creation fails.
undo.push("remove_netns", func(context.Context) error { return undoNetNS(&sandbox) })
`),
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.teardownPodNetwork")))), `// An ADD that fails may have allocated something all the same.
undo.push("teardown_pod_network", func(ctx context.Context) error { return c.undoNetwork(ctx, sandbox) })`),

		// The sandbox, from the moment its controller has it.
		containerd.Run.Delete(edit.Stmt(edit.Define("rollbackSandbox"))),
		containerd.Run.Delete(edit.Stmt(edit.Assign("rollbackSandbox"))),
		containerd.Run.MoveAfter(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxService.ShutdownSandbox")))),
			edit.Stmt(edit.Call("c.sandboxService.CreateSandbox"))),
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxService.ShutdownSandbox")))), `undo.push("shutdown_sandbox", func(ctx context.Context) error { return c.shutdownSandbox(ctx, sandbox.Sandboxer, id) })
// The exit monitor deletes the task as well. Wait for it: two deletions at once can
// make each other fail.
undo.pushTry("stop_sandbox", func(ctx context.Context) error {
	return unlessNotFound(c.sandboxService.StopSandbox(ctx, sandbox.Sandboxer, id))
})`),

		// The plugins, which come first, while all of it stands.
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.nri.UndoRunPodSandbox")))),
			`undo.pushTry("tell_plugins", func(ctx context.Context) error { return c.nri.UndoRunPodSandbox(ctx, &sandbox) })
`),
	},
}
