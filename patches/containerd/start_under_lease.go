// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// StartUnderLease: what a sandbox is started with belongs to it at once.
var StartUnderLease = edit.Patch{
	Slug:    "start-under-lease",
	Module:  "containerd",
	Subject: "cri: start a sandbox under its own lease",
	Body: `If containerd is killed while it starts a sandbox, the snapshot of its process
stays for a day. It is created under a lease that the client makes for the
purpose and deletes when it is done, and that no one else knows of, though the
sandbox has a lease of its own.

Create container and snapshot under the sandbox's lease, which is deleted with the sandbox, also
by a removal after a restart. It is two transactions of the metadata database
less for each pod.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L7", "L15"},
	Status: edit.Upstream,
	Until:  "the snapshot of a sandbox is created under the lease of the sandbox",
	Edits: []edit.Edit{
		run.Replace(edit.Expr("c.sandboxService.StartSandbox(ctx, sandbox.Sandboxer, id)"),
			"c.sandboxService.StartSandbox(leases.WithLease(ctx, ls.ID), sandbox.Sandboxer, id)"),
	},
}
