// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// StopBeforeReclaim sends StopPodSandbox before any resource of the pod is
// released, and RemovePodSandbox last, just before the pod leaves the list.
var StopBeforeReclaim = edit.Patch{
	Slug:    "stop-before-reclaim",
	Module:  "containerd",
	Subject: "cri,nri: send StopPodSandbox before anything is released",
	Body: `NRI plugins get StopPodSandbox after the sandbox's process was killed and its
mounts were removed. If either fails, as with a shim that hangs, they do not
get it. Send it when the last container has stopped, before the sandbox itself
is touched.

RemovePodSandbox is sent, and the sandbox removed from the store, before its
record is deleted. If the deletion fails, the sandbox is no longer listed, and
its record and name stay until a restart of containerd; then the sandbox is
back. Delete the record first: the removal can be retried until that succeeds,
and RemovePodSandbox is sent just before the sandbox leaves the list.`,
	Refs:     []string{"containerd/nri#286", "containerd/containerd#13859"},
	Rules:    []string{"L10", "L12"},
	Status:   edit.Upstream,
	Until:    "containerd sends StopPodSandbox before it stops the sandbox, and RemovePodSandbox after it deleted its record",
	Untested: "moves two calls in functions that need a real sandbox",
	Edits: []edit.Edit{
		stop.MoveBefore(
			edit.Stmt(edit.Call("c.nri.StopPodSandbox")).And(1), edit.Stmt(edit.Define("state"))),
		remove.MoveBefore(
			edit.Stmt(edit.All(edit.If("err != nil"), edit.Call("c.client.SandboxStore().Delete"))), edit.Stmt(edit.Call("c.nri.RemovePodSandbox"))),
	},
}
