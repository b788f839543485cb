// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

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

Roll back from CreateSandbox on, delete record and lease under a context of
their own, and decide last whether something is left: then the sandbox goes
into the store, where the kubelet sees it as not ready and removes it. The
lease is deleted after the record, so that an owner outlives what it owns.`,
	Refs:   []string{"containerd/containerd#13355", "containerd/containerd#13859"},
	Rules:  []string{"L7"},
	Status: edit.Upstream,
	Until:  "RunPodSandbox rolls back its record, lease and sandbox under a context that outlives the request, whatever failed",
	Edits: []edit.Edit{
		// The record, then the lease.
		run.MoveAfter(edit.Stmt(edit.Define("leaseSvc")).And(3),
			edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.client.SandboxStore().Delete"))))),
		run.Replace(edit.Stmt(edit.Call("leaseSvc.Delete")), `if derr := leaseSvc.Delete(deferCtx, ls); derr != nil && !errdefs.IsNotFound(derr) {
	log.G(deferCtx).WithError(derr).Error("failed to delete lease during cleanup")
	if cleanupErr == nil {
		cleanupErr = derr
	}
}`),
		run.MoveBefore(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxStore.Add")))),
			edit.Stmt(edit.Call("c.client.SandboxStore().Create"))),
		run.Before(edit.Stmt(edit.Call("c.sandboxStore.Add")).Within(edit.Defer()), `if sandbox.NetNS == nil && !hostNetwork(config) {
	sandbox.NetNS = netns.LoadNetNS(sandbox.NetNSPath) // it was not created, and others read it
}`),
		run.Replace(edit.Stmt(edit.Call("c.client.SandboxStore().Delete")), `deferCtx, deferCancel := util.DeferContext()
defer deferCancel()
if derr := c.client.SandboxStore().Delete(deferCtx, id); derr != nil && !errdefs.IsNotFound(derr) {
	cleanupErr = derr
}`),

		// The sandbox, from the moment its controller has it.
		run.Delete(edit.Stmt(edit.Define("rollbackSandbox"))),
		run.Delete(edit.Stmt(edit.Assign("rollbackSandbox"))),
		run.Replace(edit.Expr("retErr != nil && rollbackSandbox"), "retErr != nil && cleanupErr == nil"),
		run.Replace(edit.Stmt(edit.Call("c.sandboxService.ShutdownSandbox")), `cleanupErr = c.shutdownSandbox(deferCtx, sandbox.Sandboxer, id)`),
		run.MoveAfter(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.shutdownSandbox")))),
			edit.Stmt(edit.Call("c.sandboxService.CreateSandbox"))),
	},
}
