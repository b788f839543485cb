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
	Body: `A RunPodSandbox that fails can leave resources behind that have no
owner.

The record of the sandbox is deleted under the context of the request.
If the caller has canceled, the deletion fails. The record stays, and so
does the name, which is not released because the clean-up is not
complete. The sandbox is not in the store either, because that was
decided before. No client can remove it until containerd restarts.

A sandbox that its controller has created is shut down only if it was
started as well. If the pause image cannot be pulled, the shim of a
sandboxer keeps running, and the pod sandbox controller never forgets
the sandbox. An error of the controller's clean-up is lost when a later
step overwrites it.

A lease that cannot be deleted is logged, and leaks.

The roll-back is ten deferred functions that use variables to pass on
what to leave. Some share a context: a stop of the sandbox that hangs
leaves no time for the next step.

Keep the steps of the roll-back in a stack, to which each step of the
creation pushes, and run it in one place. From CreateSandbox on, each
step has a context and a time of its own. If a step fails, all earlier
steps of the creation are kept, and the sandbox goes into the store,
where the kubelet sees it as not ready and removes it. Delete the lease
before the record, so that an owner outlives what it owns, and a lease
that cannot be deleted keeps its owner. Add a span for the roll-back and
for each step.

A controller receives StopSandbox and ShutdownSandbox also after a
StartSandbox that failed or was never called. NotFound counts as
success, because the controller of shims answers it after its own
clean-up. Any other error of ShutdownSandbox keeps the pod in the list,
not ready. So a remote controller that forgets a sandbox when its start
fails must answer NotFound or success.`,
	Refs:   []string{"kubernetes-sigs/cri-tools#2046", "containerd/containerd#13355", "containerd/containerd#13859"},
	Rules:  []string{"L7"},
	Status: edit.Upstream,
	Until:  "after any failure, RunPodSandbox rolls back its record, lease and sandbox under a context that outlives the request",
	Needs:  []string{"containerd/undo-rejected-pod"},
	Edits: []edit.Edit{
		// One place for the roll-back, and the name.
		containerd.Run.MoveBefore(edit.Stmt(edit.Define("sandbox")), edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxNameIndex.ReleaseByName"))))),
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxNameIndex.ReleaseByName")))), `// If a later step fails, all that is created from here on is rolled back.
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
		containerd.Run.Before(edit.Stmt(edit.If("!userNsEnabled")), `// A namespace may be mounted even if its creation fails.
undo.push("remove_netns", func(context.Context) error { return undoNetNS(&sandbox) })
`),
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.teardownPodNetwork")))), `// An ADD that fails may have allocated resources.
undo.push("teardown_pod_network", func(ctx context.Context) error { return c.undoNetwork(ctx, sandbox) })`),

		// The sandbox, from the moment its controller has it.
		containerd.Run.Delete(edit.Stmt(edit.Define("rollbackSandbox"))),
		containerd.Run.Delete(edit.Stmt(edit.Assign("rollbackSandbox"))),
		containerd.Run.MoveAfter(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxService.ShutdownSandbox")))),
			edit.Stmt(edit.Call("c.sandboxService.CreateSandbox"))),
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxService.ShutdownSandbox")))), `undo.push("shutdown_sandbox", func(ctx context.Context) error { return c.shutdownSandbox(ctx, sandbox.Sandboxer, id) })
// The exit monitor deletes the task as well. Wait for it, because two deletions at once
// can make each other fail.
undo.pushTry("stop_sandbox", func(ctx context.Context) error {
	return unlessNotFound(c.sandboxService.StopSandbox(ctx, sandbox.Sandboxer, id))
})`),

		// The plugins come first, while all resources still exist.
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.nri.UndoRunPodSandbox")))),
			`undo.pushTry("tell_plugins", func(ctx context.Context) error { return c.nri.UndoRunPodSandbox(ctx, &sandbox) })
`),
	},
}
