// SPDX-License-Identifier: Apache-2.0

package stopbeforereclaim

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// StopBeforeReclaim sends StopPodSandbox before any resource of the pod is released.
var StopBeforeReclaim = edit.Patch{
	Slug:    "stop-before-reclaim",
	Module:  "containerd",
	Subject: "cri,nri: send StopPodSandbox before anything is released",
	Body: `NRI plugins receive StopPodSandbox after the sandbox's process was killed and its
mounts were removed. If either fails, as with a shim that hangs, they do not
receive it. Send it when the last container has stopped, before the sandbox
itself is touched. From the beginning of its stop, let the sandbox take no
containers: its process still runs while plugins handle the stop, so it would.

A plugin that waits in StopPodSandbox now delays the end of the sandbox's
process. Until now it delayed only the CNI DEL. If the process cannot be stopped
after that, the plugin has received the stop and does not receive it again.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#13859"},
	Rules:  []string{"L10"},
	Status: edit.Upstream,
	Until:  "containerd sends StopPodSandbox before it stops the sandbox",
	Edits: []edit.Edit{
		containerd.Stop.MoveBefore(
			edit.Stmt(edit.Call("c.nri.StopPodSandbox")).And(1), edit.Stmt(edit.Define("state"))),
		// The sandbox stays ready while plugins handle the stop.
		containerd.ServiceType.AddField(`
// stopping are the sandboxes that are being stopped. They take no containers.
stopping sandboxstore.Stopping`),
		containerd.Stop.Before(edit.Stmt(edit.Define("containers")), `defer c.stopping.Begin(id)()`),
		containerd.CreateContainer.Replace(edit.Expr(containerd.NotReady), containerd.NotReadyOrStopping),
		containerd.StartContainer.Replace(edit.Expr(containerd.NotReady), containerd.NotReadyOrStopping),
		containerd.StartContainer.Before(edit.Stmt(edit.Call("task.Start")), `if c.stopping.Has(sandboxID) {
	return nil, fmt.Errorf("sandbox container %q is being stopped", sandboxID)
}
`),
	},
}
