// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// StopBeforeShutdown makes the roll-back of a pod wait until the sandbox process
// has exited before it shuts the sandbox down.
var StopBeforeShutdown = edit.Patch{
	Slug:    "stop-before-shutdown",
	Module:  "containerd",
	Subject: "cri: stop a sandbox before its roll-back shuts it down",
	Body: `About one in twenty pods that fail in their NRI hook is not rolled back: its
namespace, address, snapshot and record stay until the kubelet removes it.

The roll-back shuts down a sandbox whose process still runs. Shutdown kills
the task and deletes it. The exit monitor of the sandbox sees the process
exit and deletes the task as well. The second of the two may find the shim's
connection closed ("failed to delete task: ttrpc: closed"); if that is
Shutdown, the clean-up stops there and the sandbox is kept in state unknown.

Stop the sandbox first, as RemovePodSandbox does. Stop returns when the exit
monitor is done, so that Shutdown finds no task to delete.

A shim or a remote controller that makes sandboxes gets StopSandbox before
ShutdownSandbox here, in the order in which a stop and a removal of CRI call
them. If the sandbox hangs in its stop, the kubelet gets the error of
RunPodSandbox later by the time that the stop may take.`,
	Refs:   []string{"containerd/containerd#13355", "containerd/containerd#13859"},
	Rules:  []string{"L7"},
	Status: edit.Upstream,
	Until:  "the roll-back of RunPodSandbox no longer deletes the task of a sandbox while its exit monitor does",
	Edits: []edit.Edit{
		run.Before(
			edit.Stmt(edit.Call("c.sandboxService.ShutdownSandbox")),
			`// The exit monitor deletes the task as well. Wait for it: two deletions at
// once can make each other fail. A stop that hangs leaves the shutdown its time.
stopCtx, stopCancel := util.DeferContext()
defer stopCancel()
if err := c.sandboxService.StopSandbox(stopCtx, sandbox.Sandboxer, id); err != nil && !errdefs.IsNotFound(err) {
	log.G(stopCtx).WithError(err).Warnf("failed to stop sandbox %q before its shutdown", id)
}`),
	},
}
