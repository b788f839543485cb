// SPDX-License-Identifier: Apache-2.0

package undo

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// StartUnderLease creates the snapshot of a sandbox under the sandbox's lease.
var StartUnderLease = edit.Patch{
	Slug:    "start-under-lease",
	Module:  "containerd",
	Subject: "cri: start a sandbox under its own lease",
	Body: `If containerd is killed while it starts a sandbox, the sandbox's
snapshot stays for a day. The snapshot is created under a temporary
lease of the client, which is not deleted then, though the sandbox has a
lease of its own.

Create container and snapshot under the sandbox's lease, which is
deleted with the sandbox, also by a removal after a restart. That saves
two transactions of the metadata database for each pod.

Only CRI uses this; ctr, moby and nerdctl are not affected. A sandbox
plugin that is connected over gRPC receives the lease with the start,
which it did not before. A containerd without this patch deletes the
lease with the sandbox, too.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L7", "L15"},
	Status: edit.Upstream,
	Until:  "the snapshot of a sandbox is created under the lease of the sandbox",
	Needs:  []string{"containerd/undo-in-order"},
	Edits: []edit.Edit{
		containerd.Run.Replace(edit.Expr("c.sandboxService.StartSandbox(ctx, sandbox.Sandboxer, id)"),
			"c.sandboxService.StartSandbox(leases.WithLease(ctx, ls.ID), sandbox.Sandboxer, id)"),
	},
}
