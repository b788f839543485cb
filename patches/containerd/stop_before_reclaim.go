// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

var deleteContainer = edit.All(edit.Defer(), edit.Has(edit.Call("cntr.Delete")))

// StopBeforeReclaim sends StopPodSandbox before any resource of the pod is
// released, and RemovePodSandbox and RemoveContainer before the record is deleted:
// what a kill leaves listed is told of again.
var StopBeforeReclaim = edit.Patch{
	Slug:    "stop-before-reclaim",
	Module:  "containerd",
	Subject: "cri,nri: send StopPodSandbox before anything is released",
	Body: `NRI plugins get StopPodSandbox after the sandbox's process was killed and its
mounts were removed. If either fails, as with a shim that hangs, they do not
get it. Send it when the last container has stopped, before the sandbox itself
is touched. The sandbox takes no containers from the beginning of its stop: it
would while plugins are asked, since its process runs.

The sandbox leaves its store before its record is deleted. If the deletion
fails, the sandbox is no longer listed, and its record and name stay until a
restart of containerd; then the sandbox is back. Delete the record first: the
removal can be retried until that succeeds.

A container whose creation fails after its record was made loses the record
before plugins are told that it is gone. If containerd is killed in between,
nobody is left who could tell them. Tell them first, as is done for containers
and sandboxes that are removed.

A plugin that waits in StopPodSandbox now delays the end of the sandbox's process,
where it delayed the CNI DEL alone. If the process cannot be stopped after that,
the plugin has had its stop and does not get it again. While a record cannot be
deleted, the pod stays in the kubelet's list, not ready, and its name stays
taken; the kubelet's next removal goes on from there.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#13859"},
	Rules:  []string{"L10", "L12"},
	Status: edit.Upstream,
	Until:  "containerd sends StopPodSandbox before it stops the sandbox, and each removal before it deletes the record",
	Edits: []edit.Edit{
		stop.MoveBefore(
			edit.Stmt(edit.Call("c.nri.StopPodSandbox")).And(1), edit.Stmt(edit.Define("state"))),
		remove.MoveBefore(
			edit.Stmt(edit.All(edit.If("err != nil"), edit.Call("c.client.SandboxStore().Delete"))), edit.Stmt(edit.Call("c.sandboxStore.Delete"))),

		// Plugins may take a while in the stop, in which the sandbox is ready.
		serviceType.AddField(`
// stopping are the sandboxes that are being stopped. They take no containers.
stopping sandboxstore.Stopping`),
		stop.Before(edit.Stmt(edit.Define("containers")), `defer c.stopping.Begin(id)()`),
		createContainer.Replace(edit.Expr(notReady), notReadyOrStopping),
		startContainer.Replace(edit.Expr(notReady), notReadyOrStopping),
		startContainer.Before(edit.Stmt(edit.Call("task.Start")), `if c.stopping.Has(sandboxID) {
	return nil, fmt.Errorf("sandbox container %q is being stopped", sandboxID)
}
`),

		// Deferred functions run last in, first out.
		createContainerIn.Replace(
			edit.Expr("retErr != nil").Within(deleteContainer), "retErr != nil && cntr != nil"),
		createContainerIn.MoveBefore(
			edit.Stmt(edit.Declare("cntr")), edit.Stmt(edit.Call("c.nri.WithContainerAdjustment"))),
		createContainerIn.MoveBefore(
			edit.Stmt(deleteContainer), edit.Stmt(edit.Call("c.nri.WithContainerAdjustment"))),
	},
}
