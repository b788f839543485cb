// SPDX-License-Identifier: Apache-2.0

package creation

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// HiddenUntilReady decides what CRI answers for a sandbox that is being created.
var HiddenUntilReady = edit.Patch{
	Slug:    "hidden-until-ready",
	Module:  "containerd",
	Subject: "cri: answer for sandboxes that are being created",
	Body: `A sandbox that is being created is in no store, so CRI answers as if it did
not exist. A container for it is rejected because the sandbox "is not found". A
stop or removal of it succeeds, as if all its resources were released; and then
it becomes ready. Yet its id is known: from logs, NRI events and "crictl info".

Reject a container with the reason that its sandbox is still being created. Let
a stop or removal cancel the creation, and return when it is rolled back: so a
pod whose creation is stuck can be removed. Its id may be shortened as that of
any other sandbox, up to what it has in common with another one's.

The kubelet has no id before RunPodSandbox returns, so it is not affected. crictl
and other clients of CRI get FailedPrecondition for NotFound from CreateContainer.
Their stop or removal of such a pod takes as long as the roll-back, or until
their own deadline, where it returned at once. Lists and status do not change, and
a pod that is listed is not being created any more.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L6", "L8"},
	Status: edit.Upstream,
	Until:  "CRI tells sandboxes that are being created from those that do not exist, and a stop cancels a creation",
	Needs:  []string{"containerd/hook-last"},
	Edits: []edit.Edit{
		edit.In(creationFile, edit.Type("Creation")).AddField(`

// done is closed when the sandbox is in the store or rolled back.
done chan struct{}`),
		edit.In(creationFile, edit.Method("Creations", "Begin")).After(edit.Stmt(edit.Define("n")), "n.done = make(chan struct{})"),
		edit.In(creationFile, edit.Method("Creation", "End")).After(edit.Stmt(edit.Call("delete")), "close(n.done)"),
		containerd.Run.After(edit.Stmt(edit.Call("c.becomeReady")), `// What is listed as ready takes containers, and can be stopped.
creation.End()
`),
		containerd.CreateContainer.Before(
			edit.Stmt(edit.Define("sandbox", "err")), `if err := c.rejectCreating(r.GetPodSandboxId()); err != nil {
	return nil, err
}`),
		edit.In(containerd.SandboxStop, edit.Method("criService", "StopPodSandbox")).Before(
			edit.Stmt(edit.Define("sandbox", "err")), `sandboxID, err := c.abortCreation(ctx, r.GetPodSandboxId(), "stopped")
if err != nil {
	return nil, err
}`),
		edit.In(containerd.SandboxStop, edit.Method("criService", "StopPodSandbox")).Replace(
			edit.Expr("c.sandboxStore.Get(r.GetPodSandboxId())"), "c.sandboxStore.Get(sandboxID)"),
		containerd.Remove.Before(
			edit.Stmt(edit.Define("sandbox", "err")), `sandboxID, err := c.abortCreation(ctx, r.GetPodSandboxId(), "removed")
if err != nil {
	return nil, err
}`),
		containerd.Remove.Replace(edit.Expr("c.sandboxStore.Get(r.GetPodSandboxId())"), "c.sandboxStore.Get(sandboxID)"),
	},
}
