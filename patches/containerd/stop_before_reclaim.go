// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// StopBeforeReclaim: a pod's stop is told while all it had is there, and its
// removal when all but its place in the list is gone.
var StopBeforeReclaim = edit.Patch{
	Slug:    "stop-before-reclaim",
	Module:  "containerd",
	Subject: "cri,nri: tell of a pod's stop before anything is reclaimed",
	Body: `NRI plugins get StopPodSandbox after the sandbox's process was killed and its
mounts were taken down. If either fails, as with a shim that hangs, they are
not told. Send it when the last container has stopped, before anything of the
sandbox is touched.

RemovePodSandbox is sent, and the sandbox taken out of the store, before its
record is deleted. If that fails, the sandbox is gone from the list, and its
record and its name stay until containerd starts again; then the sandbox is
back. Delete the record first: the removal can be repeated until that is done,
and the event comes right before the sandbox leaves the list.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#13859"},
	Rules:  []string{"L10", "L12"},
	Status: edit.Upstream,
	Until:  "containerd sends StopPodSandbox before it stops the sandbox, and RemovePodSandbox after it deleted its record",
	Edits: []edit.Edit{
		stop.MoveBefore(
			edit.Stmt(edit.Call("c.nri.StopPodSandbox")).And(1), edit.Stmt(edit.Define("state"))),
		remove.MoveBefore(
			edit.Stmt(edit.All(edit.If("err != nil"), edit.Call("c.client.SandboxStore().Delete"))), edit.Stmt(edit.Call("c.nri.RemovePodSandbox"))),
	},
}
