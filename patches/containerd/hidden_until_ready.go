// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// HiddenUntilReady: what CRI answers for a sandbox that is being created.
var HiddenUntilReady = edit.Patch{
	Slug:    "hidden-until-ready",
	Module:  "containerd",
	Subject: "cri: answer for sandboxes that are being created",
	Body: `A sandbox that is being created is in no store, and so CRI answers as if it
did not exist. A container for it is refused because the sandbox "is not
found". A stop or removal of it succeeds, which says that all it has was given
back; and then it becomes ready. Its id is in logs, in the plugins' hands
and in "crictl info".

Say of a container that the sandbox is still being created. Let a stop or
removal end the creation, and return when it is undone: a pod that is stuck in
its creation can be let go of.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L6", "L8"},
	Status: edit.Upstream,
	Until:  "CRI tells sandboxes in creation from those that do not exist, and a stop ends a creation",
	Edits: []edit.Edit{
		edit.In(creationFile, edit.Type("Creation")).AddField(`

// over is closed when the sandbox is in the store or undone.
over chan struct{}`),
		edit.In(creationFile, edit.Method("Creations", "Begin")).After(edit.Stmt(edit.Define("n")), "n.over = make(chan struct{})"),
		edit.In(creationFile, edit.Method("Creation", "End")).After(edit.Stmt(edit.Call("delete")), "close(n.over)"),
		createContainer.Before(
			edit.Stmt(edit.Define("sandbox", "err")), `if err := c.refuseCreating(r.GetPodSandboxId()); err != nil {
	return nil, err
}`),
		edit.In(sandboxStop, edit.Method("criService", "StopPodSandbox")).Before(
			edit.Stmt(edit.Define("sandbox", "err")), `if err := c.abortCreation(ctx, r.GetPodSandboxId(), "stopped"); err != nil {
	return nil, err
}`),
		remove.Before(
			edit.Stmt(edit.Define("sandbox", "err")), `if err := c.abortCreation(ctx, r.GetPodSandboxId(), "removed"); err != nil {
	return nil, err
}`),
	},
}
