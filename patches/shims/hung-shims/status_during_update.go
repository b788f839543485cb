// SPDX-License-Identifier: Apache-2.0

package hungshims

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// StatusDuringUpdate has who reads the status of a container wait for no update.
var StatusDuringUpdate = edit.Patch{
	Slug:    "status-during-update",
	Module:  "containerd",
	Subject: "cri: read a container's status while it is updated",
	Body: `An update of a container's resources that hangs, in its shim or in the runtime
below, keeps the kubelet from listing any container of the node, and every NRI
plugin from joining. The update is made under the lock of the container's
status, for which all wait who read it.

Have updates wait for one another, as they do now, and readers for none: they
get the status of before until the new one is in place. All updates there are
leave alone what the status of before points to.

Only CRI has this lock. Updates, starts, removals and exits of one container
still come one after the other, and a caller that has the answer to an update
reads its result. A reader during an update sees the resources of before, where
it waited until now.`,
	Refs:   []string{"containerd/containerd#14083"},
	Rules:  []string{"L13", "L22"},
	Status: edit.Upstream,
	Until:  "no lock that is needed to read a container's status is held while a shim is asked",
	Edits: []edit.Edit{
		edit.In(containerd.ContainerStatus, edit.Type("statusStorage")).AddField(`

// updating is held while the next status is made, and taken before the other lock.
updating sync.Mutex`),
		edit.In(containerd.ContainerStatus, edit.Method("statusStorage", "UpdateSync")).Replace(edit.Stmt(edit.Call("s.Lock")).And(1), beginUpdate),
		edit.In(containerd.ContainerStatus, edit.Method("statusStorage", "UpdateSync")).Replace(edit.Stmt(edit.Assign("s.status")), "s.set(newStatus)"),
		edit.In(containerd.ContainerStatus, edit.Method("statusStorage", "Update")).Replace(edit.Stmt(edit.Call("s.Lock")).And(1), beginUpdate),
		edit.In(containerd.ContainerStatus, edit.Method("statusStorage", "Update")).Replace(edit.Stmt(edit.Assign("s.status")), "s.set(newStatus)"),
	},
}

const beginUpdate = `s.updating.Lock()
defer s.updating.Unlock()`
