// SPDX-License-Identifier: Apache-2.0

package shimdeletecgroup

import "github.com/hookline-nri/hookline/internal/edit"

// ShimDeleteCgroup removes the cgroup of a container whose creation was cut.
var ShimDeleteCgroup = edit.Patch{
	Slug:    "shim-delete-cgroup",
	Module:  "containerd",
	Subject: "shim: remove the cgroup of a container whose creation was cut",
	Body: `If containerd ends while a shim creates a container, be it killed or restarted, the
shim kills runc with the connection. What runc has not recorded by then, it does not
delete later: the container's cgroup stays, in each hierarchy, until somebody removes
it by hand. A runc that the kernel kills for want of memory leaves the same.

The delete command, which containerd runs for such a container, has the container's
spec, and with it the path of its cgroup. Once runc has nothing to delete any more,
remove what there is at that path and is empty. With systemd's driver the path is no
path, and systemd removes the cgroup.

The shim serves ctr, moby and nerdctl as well. A path that the operator has made,
or that containers share, goes if it is empty, as runc removes it at the end of
any container. Where the shim may not remove it, as in a rootless containerd, it
logs a warning. Shims from before this patch go on to leave it.`,
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
