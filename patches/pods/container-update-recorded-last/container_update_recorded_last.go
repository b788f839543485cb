// SPDX-License-Identifier: Apache-2.0

package containerupdaterecordedlast

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

var update = containerd.CRIMethod("internal/cri/server/container_update_resources.go", "updateContainerResources")

// ContainerUpdateRecordedLast records the new resources of a container when it has them.
var ContainerUpdateRecordedLast = edit.Patch{
	Slug:    "container-update-recorded-last",
	Module:  "containerd",
	Subject: "cri: record the resources of a container when it has them",
	Body: `An update of a container is written into its record, then applied, and
taken out of the record again if runc rejects it. Code that reads the
record in between receives values that the container never has: an NRI
plugin that registers, or receives an event of the container. If
containerd is killed at that moment, the record keeps them.

Apply the update first, and write the record when the container has the
new values, with a context of its own, because the caller may leave. If
the record cannot be written, the container gets its old values back, as
far as that is possible, and the update fails as before.

A container that does not run is only recorded, as before.`,
	Refs:   []string{"kubernetes/kubernetes#137555"},
	Rules:  []string{"L26", "L27"},
	Status: edit.Upstream,
	Until:  "containerd records the update of a container after it was applied",
	Edits: []edit.Edit{
		update.Delete(edit.Stmt(edit.All(edit.If("err != nil"), edit.Mentions("updateContainerSpec(ctx, cntr.Container, newSpec)")))),
		update.Replace(edit.Stmt(edit.All(edit.Defer(), edit.Has(edit.If("retErr != nil")))), `defer func() {
	if retErr == nil {
		newStatus, retErr = recordContainerUpdate(cntr, status, oldSpec, newSpec)
	}
}()`),
		edit.DropImport("internal/cri/server/container_update_resources.go", "github.com/containerd/containerd/v2/internal/cri/util"),
	},
}
