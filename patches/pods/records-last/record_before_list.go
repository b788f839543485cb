// SPDX-License-Identifier: Apache-2.0

package recordslast

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// RecordBeforeList deletes the record of a sandbox before the sandbox leaves the list.
var RecordBeforeList = edit.Patch{
	Slug:    "record-before-list",
	Module:  "containerd",
	Subject: "cri: list a sandbox until its record is deleted",
	Body: `A sandbox leaves its store before its record is deleted. If the deletion
fails, the sandbox is no longer listed, but its record and name stay.
After a restart of containerd the sandbox is back. Delete the record
first, so that the removal can be retried until the deletion succeeds.

While a record cannot be deleted, the pod stays in the kubelet's list,
not ready, and its name stays taken. The kubelet's next removal tries
again.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L12"},
	Status: edit.Upstream,
	Until:  "containerd deletes the record of a sandbox before it takes the sandbox from its store",
	Edits: []edit.Edit{
		containerd.Remove.MoveBefore(
			edit.Stmt(edit.All(edit.If("err != nil"), edit.Call("c.client.SandboxStore().Delete"))), edit.Stmt(edit.Call("c.sandboxStore.Delete"))),
	},
}
