// SPDX-License-Identifier: Apache-2.0

package creation

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// HiddenUntilReady gives CRI an answer for sandboxes that are being created.
var HiddenUntilReady = edit.Patch{
	Slug:    "hidden-until-ready",
	Module:  "containerd",
	Subject: "cri: answer for sandboxes that are being created",
	Body: `CRI answers for a sandbox that is being created as if the sandbox did
not exist, because it is in no store. A container for it is rejected,
since the sandbox "is not found". A stop or removal of it succeeds, as
if all its resources were released, and then the sandbox becomes ready.
Its id is known from logs, NRI events and "crictl info".

Reject a container with the reason that its sandbox is still being
created. Let a stop or removal cancel the creation, and return when it
is rolled back, so that a pod whose creation is stuck can be removed.
The id may be shortened like that of any other sandbox, as long as it
matches one sandbox.

The kubelet has no id before RunPodSandbox returns, so it is not
affected. crictl and other clients of CRI receive FailedPrecondition
instead of NotFound from CreateContainer. Their stop or removal of such
a pod returned at once; now it takes as long as the roll-back, or until
their own deadline. Lists and status do not change, and a listed pod is
not being created any more.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L6", "L8"},
	Status: edit.Upstream,
	Until:  "CRI distinguishes sandboxes that are being created from sandboxes that do not exist, and a stop cancels a creation",
	Needs:  []string{"containerd/hook-last"},
	Edits: []edit.Edit{
		edit.In(creationFile, edit.Type("Creation")).AddField(`

// done is closed when the sandbox is in the store or rolled back.
done chan struct{}`),
		edit.In(creationFile, edit.Method("Creations", "Begin")).After(edit.Stmt(edit.Define("n")), "n.done = make(chan struct{})"),
		edit.In(creationFile, edit.Method("Creation", "End")).After(edit.Stmt(edit.Call("delete")), "close(n.done)"),
		containerd.Run.After(edit.Stmt(edit.Call("c.becomeReady")), `// A sandbox that is listed as ready takes containers, and can be stopped.
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
