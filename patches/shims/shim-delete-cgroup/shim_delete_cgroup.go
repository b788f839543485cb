// SPDX-License-Identifier: Apache-2.0

package shimdeletecgroup

import "github.com/hookline-nri/hookline/internal/edit"

// ShimDeleteCgroup removes the cgroup of a container whose creation was interrupted.
var ShimDeleteCgroup = edit.Patch{
	Slug:    "shim-delete-cgroup",
	Module:  "containerd",
	Subject: "shim: remove the cgroup of an interrupted creation",
	Body: `If containerd ends while a shim creates a container, the cgroup of the
container stays, in each hierarchy, until it is removed by hand. The
shim kills runc when its connection to containerd ends, and runc does
not delete later what it has not recorded by then. A runc that the
kernel kills for lack of memory leaves the same.

The delete command, which containerd runs for such a container, has the
container's spec, and with it the path of its cgroup. Once runc has
nothing left to delete, remove the cgroup at that path if it is empty.
With systemd's driver the value is not a path, and systemd removes the
cgroup.

The shim serves ctr, moby and nerdctl as well. A cgroup that the
operator created, or that containers share, is removed if it is empty,
as runc does at the end of any container. If the shim lacks the
permission, as in a rootless containerd, it logs a warning. Shims that
were started before this patch still leave the cgroup.`,
	Rules:  []string{"L7", "L15"},
	Status: edit.Upstream,
	Until:  "the shim's delete command leaves no cgroup of a container that runc does not know",
	Edits: []edit.Edit{
		edit.In("cmd/containerd-shim-runc-v2/manager/manager_linux.go", edit.Method("manager", "Stop")).
			Before(edit.Stmt(edit.Mentions("mount.UnmountRecursive")), `if err := removeCgroup(ctx, path); err != nil {
	log.G(ctx).WithError(err).Warn("failed to remove the container's cgroup")
}
`),
	},
}
