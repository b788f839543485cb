// SPDX-License-Identifier: Apache-2.0

package undorejectedpod

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// UndoRejectedPod sends plugins the stop and removal of a pod whose creation failed
// in or after its hook.
var UndoRejectedPod = edit.Patch{
	Slug:    "undo-rejected-pod",
	Module:  "containerd",
	Subject: "cri,nri: roll back a failed RunPodSandbox under its own context",
	Body: `When RunPodSandbox fails in its NRI hook or after it, plugins may receive neither
StopPodSandbox nor RemovePodSandbox, or only the latter.

When the hook fails, containerd sends both under the context of the request. If
the hook failed because the kubelet canceled or its deadline passed, that
context is canceled: the events may reach no plugin, and the resources that
plugins set up for the pod leak.

When a step after the hook fails, containerd sends RemovePodSandbox without
StopPodSandbox. Plugins that release resources in StopPodSandbox leak them.

Send both in one place: Stop, then Remove, under a context of their own with the
timeout of other deferred cleanups. Deferred functions run last in first out, so
this is still before the sandbox and its network are torn down.

About one in twenty of these pods is then not rolled back: its namespace,
address, snapshot and record stay until the kubelet removes it. The roll-back
shuts down a sandbox whose process still runs. Shutdown kills the task and
deletes it, and so does the exit monitor, which sees the process exit. The
second of the two may find the shim's connection closed ("failed to delete task:
ttrpc: closed"). If that is Shutdown, the cleanup stops there and the sandbox is
kept in state unknown. Stop the sandbox first, as RemovePodSandbox does. Stop
returns when the exit monitor is done.

Only CRI sends pods to NRI plugins: ctr, moby and nerdctl do not use this code.
A plugin that did all its work in RemovePodSandbox receives StopPodSandbox
before it. RunPodSandbox returns its error to the kubelet when plugins have
answered both, or their timeouts have passed, and when the sandbox has stopped.
A shim or a remote controller that makes sandboxes gets StopSandbox before
ShutdownSandbox here, in the order in which a stop and a removal of CRI call
them.`,
	Refs:   []string{"kubernetes-sigs/cri-tools#2046", "containerd/containerd#13355", "containerd/containerd#13609", "containerd/containerd#13859", "containerd/nri#286"},
	Rules:  []string{"L7"},
	Status: edit.Upstream,
	Until:  "containerd rolls back NRI's part of a failed RunPodSandbox with Stop and Remove under a context that outlives the request",
	Edits: []edit.Edit{
		edit.In(containerd.CRINRI, edit.Method("API", "RunPodSandbox")).Delete(
			edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Call("a.nri.RemovePodSandbox"))))),
		containerd.Run.Delete(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.Call("c.nri.RemovePodSandbox"))))),
		containerd.Run.Before(edit.Stmt(edit.Call("c.nri.RunPodSandbox")), `defer func() {
	if retErr != nil {
		deferCtx, deferCancel := util.DeferContext()
		defer deferCancel()
		if err := c.nri.UndoRunPodSandbox(deferCtx, &sandbox); err != nil {
			log.G(deferCtx).WithError(err).Errorf("failed to send the end of sandbox %q to NRI plugins", id)
		}
	}
}()
`),
		// The timeout of the shutdown begins after the stop.
		containerd.Run.Before(edit.Stmt(edit.Define("deferCtx", "deferCancel")).Within(edit.All(edit.Defer(), edit.Has(edit.Call("c.sandboxService.ShutdownSandbox")))),
			`// The exit monitor deletes the task as well. Wait for it: two deletions at
// once can make each other fail.
stopCtx, stopCancel := util.DeferContext()
defer stopCancel()
if err := c.sandboxService.StopSandbox(stopCtx, sandbox.Sandboxer, id); err != nil && !errdefs.IsNotFound(err) {
	log.G(stopCtx).WithError(err).Warnf("failed to stop sandbox %q before its shutdown", id)
}

`),
	},
}
