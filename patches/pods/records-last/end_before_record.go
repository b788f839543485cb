// SPDX-License-Identifier: Apache-2.0

package recordslast

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

var deleteContainer = edit.All(edit.Defer(), edit.Has(edit.Call("cntr.Delete")))

// EndBeforeRecord sends the end of a container whose creation failed before its record is
// deleted.
var EndBeforeRecord = edit.Patch{
	Slug:    "end-before-record",
	Module:  "containerd",
	Subject: "cri,nri: send the end of a failed container before its record goes",
	Body: `When the creation of a container fails, its record is deleted before
plugins receive its removal. If containerd is killed in between, plugins
never receive the removal. Send it first, as is done for containers and
sandboxes that are removed.`,
	Refs:     []string{"containerd/nri#286"},
	Rules:    []string{"L12"},
	Status:   edit.Upstream,
	Untested: "the steps after the record fail when a disk is full, and the order shows only if containerd is killed between the two",
	Until:    "containerd sends NRI plugins the end of a container whose creation failed before it deletes the record",
	Edits: []edit.Edit{
		// Deferred functions run last in, first out.
		containerd.CreateContainerIn.Replace(
			edit.Expr("retErr != nil").Within(deleteContainer), "retErr != nil && cntr != nil"),
		containerd.CreateContainerIn.MoveBefore(
			edit.Stmt(edit.Declare("cntr")), edit.Stmt(edit.Call("c.nri.WithContainerAdjustment"))),
		containerd.CreateContainerIn.MoveBefore(
			edit.Stmt(deleteContainer), edit.Stmt(edit.Call("c.nri.WithContainerAdjustment"))),
	},
}
