// SPDX-License-Identifier: Apache-2.0

package podupdaterecordedlast

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

var update = containerd.CRIMethod("internal/cri/server/sandbox_update_resources.go", "UpdatePodSandboxResources")

// PodUpdateRecordedLast records the new resources of a pod when its controller has them.
var PodUpdateRecordedLast = edit.Patch{
	Slug:    "pod-update-recorded-last",
	Module:  "containerd",
	Subject: "cri: record the resources of a pod when its controller has them",
	Body: `UpdatePodSandboxResources changes the status and the record of a pod
before it asks the controller of the sandbox. If the controller rejects
the update, the kubelet gets an error, and CRI's status shows values that
the sandbox does not have, also after a restart of containerd.

Ask the controller first, then write the record, and change the status
last. If the record cannot be written, the controller keeps the new
values until the kubelet tries again.

A controller that reads the record of a sandbox in UpdateSandbox finds
the old values there. The new ones are in the request, as before. The
controller for the pause container takes no updates, nor does one that
does not implement UpdateSandbox: nothing changes for their pods.`,
	Refs:   []string{"kubernetes/kubernetes#137555"},
	Rules:  []string{"L26"},
	Status: edit.Upstream,
	Until:  "containerd records the update of a pod after its controller has it",
	Edits: []edit.Edit{
		update.MoveAfter(edit.Stmt(edit.Call("c.sandboxService.UpdateSandbox")), edit.Stmt(edit.Call("sandboxInfo.AddExtension"))),
		update.MoveAfter(edit.Stmt(edit.Call("sandbox.Status.Update")).And(1), edit.Stmt(edit.Call("c.client.SandboxStore().Update"))),
	},
}
