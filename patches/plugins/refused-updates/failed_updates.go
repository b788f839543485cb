// SPDX-License-Identifier: Apache-2.0

package refusedupdates

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

var (
	updateContainer = containerd.CRIMethod("internal/cri/server/container_update_resources.go", "UpdateContainerResources")
	updatePod       = containerd.CRIMethod("internal/cri/server/sandbox_update_resources.go", "UpdatePodSandboxResources")
)

// FailedUpdates tells plugins what holds after containerd failed an update to which they agreed.
var FailedUpdates = edit.Patch{
	Slug:    "failed-updates",
	Module:  "containerd",
	Subject: "cri,nri: tell plugins what holds after a failed update",
	Body: `If all NRI plugins agree to an update of a pod or container, and
containerd then fails it, the plugins have values that never hold: runc
rejects a CPU that the node does not have, or a limit below what the
container uses.

End such an update, and give NRI the function that looks up what the pod
or container has. NRI tells the plugins, as it does for an update that a
plugin rejects or whose caller leaves. Each update to which plugins agree
has one end: this one, or the event that follows an update.

ctr, moby and nerdctl do not use this code.`,
	Refs:   []string{"kubernetes/kubernetes#137555"},
	Rules:  []string{"L26"},
	Status: edit.Upstream,
	Until:  "containerd tells NRI plugins when an update to which they agreed failed",
	Needs:  []string{"nri/refused-updates", "containerd/current-pod-resources", "containerd/pod-update-recorded-last"},
	Edits: []edit.Edit{
		edit.In(containerd.LocalNRI, edit.Type("API")).AddField(`
// UndoUpdatePodSandbox ends an update of a pod that the runtime has failed. Plugins that may have
// its values receive those that hold.
UndoUpdatePodSandbox(pod string) error
// UndoUpdateContainer does the same for a container.
UndoUpdateContainer(pod, container string) error`),
		edit.In(containerd.LocalNRI, edit.Func("New")).Before(edit.Stmt(edit.Call("nri.New")), `opts = append(opts, nri.WithLookup(domains.lookUp))
`),
		updateContainer.Before(edit.Stmt(edit.Call("container.Status.UpdateSync")), `defer func() {
	if retErr != nil {
		c.nri.UndoUpdateContainerResources(ctx, sandbox.ID, container.ID)
	}
}()

`),
		updatePod.Before(edit.Stmt(edit.Define("sandboxInfo", "err")), `held := false
defer func() {
	if !held {
		c.nri.UndoUpdatePodSandboxResources(ctx, sandbox.ID)
	}
}()

`),
		updatePod.Before(edit.Stmt(edit.Call("c.nri.PostUpdatePodSandboxResources")), `held = true
`),
	},
}
