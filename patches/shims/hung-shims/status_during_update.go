// SPDX-License-Identifier: Apache-2.0

package hungshims

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// StatusDuringUpdate lets readers of a container's status not wait for an update.
var StatusDuringUpdate = edit.Patch{
	Slug:    "status-during-update",
	Module:  "containerd",
	Subject: "cri: read a container's status while it is updated",
	Body: `An update of a container's resources that hangs, in its shim or in the
runtime below, blocks every list of containers by the kubelet, and every
registration of an NRI plugin. The update holds the lock of the
container's status, for which all readers wait.

Let updates wait for one another, as they do now, but let no reader
wait: readers get the earlier status until the new one is in place. No
existing update changes the data that the earlier status points to.

Only CRI has this lock. Updates, starts, removals and exits of one
container still run one after the other, and a caller that has the
answer to an update reads its result. A reader that waited during an
update now reads the earlier resources.`,
	Refs:   []string{"containerd/containerd#14083"},
	Rules:  []string{"L13", "L22"},
	Status: edit.Upstream,
	Until:  "no lock that is needed to read a container's status is held while a shim is asked",
	Edits: []edit.Edit{
		edit.In(containerd.ContainerStatus, edit.Type("statusStorage")).AddField(`

// updating is held while the next status is computed. It is taken before the other lock.
updating sync.Mutex`),
		edit.In(containerd.ContainerStatus, edit.Method("statusStorage", "UpdateSync")).Replace(edit.Stmt(edit.Call("s.Lock")).And(1), beginUpdate),
		edit.In(containerd.ContainerStatus, edit.Method("statusStorage", "UpdateSync")).Replace(edit.Stmt(edit.Assign("s.status")), "s.set(newStatus)"),
		edit.In(containerd.ContainerStatus, edit.Method("statusStorage", "Update")).Replace(edit.Stmt(edit.Call("s.Lock")).And(1), beginUpdate),
		edit.In(containerd.ContainerStatus, edit.Method("statusStorage", "Update")).Replace(edit.Stmt(edit.Assign("s.status")), "s.set(newStatus)"),
	},
}

const beginUpdate = `s.updating.Lock()
defer s.updating.Unlock()`
