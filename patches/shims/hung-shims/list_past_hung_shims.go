// SPDX-License-Identifier: Apache-2.0

package hungshims

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// ListPastHungShims lists containers to plugins without asking their shims.
var ListPastHungShims = edit.Patch{
	Slug:    "list-past-hung-shims",
	Module:  "containerd",
	Subject: "cri,nri: list containers without asking their shims",
	Body: `One shim that does not answer prevents all NRI plugins of the node from
registering. The list of containers for Synchronize waits two seconds
for each of the shim's containers, one after the other. After three
containers a plugin has used up its registration timeout. The shim is
only asked for the process id of the container, and again for each
event.

Take the process id from the container's status, which CRI keeps and
writes to disk, so that it is known after a restart. Write it as soon as
the process exists, because plugins receive it with StartContainer. Then
no list and no event depends on a shim, and no container has to be left
out.

After a restart, a container whose shim did not report its state is in
no list. Plugins do not count it, nor do they receive its end, although
it may be running. List it in state unknown.

A container that is being removed may have no readable record, and so no
process to take limits from. Report no limits for it.

Leave out a container that is being removed. Its record may be deleted
while it is read, and plugins would receive a container without a pod
and a name. Plugins that know it receive its removal.

Plugins see two changes: Synchronize has containers in state UNKNOWN,
with the last known process id, and StartContainer has the process id
without asking the shim again. The status file has the same fields. An
unpatched containerd reads it, and ignores the process id of a container
that does not run.`,
	Refs:   []string{"containerd/containerd#14083", "containerd/nri#63"},
	Rules:  []string{"L2", "L13", "L15", "L22"},
	Status: edit.Upstream,
	Until:  "containerd sends containers to NRI plugins without asking their shims",
	Edits: []edit.Edit{
		edit.In(containerd.CRINRI, edit.Method("API", "ListContainers")).Drop(),
		edit.In(containerd.CRINRI, edit.Type("criContainer")).Delete(edit.Field("pid")),
		edit.In(containerd.CRINRI, edit.Method("criContainer", "GetPid")).Drop(),
		edit.In(containerd.CRINRI, edit.Method("criContainer", "GetRlimits")).Before(edit.Top(), `if c.spec.Process == nil {
	return nil
}
`),
		edit.In(containerd.CRINRI, edit.Method("API", "nriContainer")).Delete(edit.Stmt(edit.Define("pid"))),
		edit.In(containerd.CRINRI, edit.Method("API", "nriContainer")).Delete(edit.Stmt(edit.Define("task", "err")).And(1)),
		edit.In(containerd.CRINRI, edit.Method("API", "nriContainer")).Delete(edit.Stmt(edit.Assign("criCtr.pid"))),
		edit.In(containerd.CRINRI, edit.Method("criContainer", "GetStatus")).Replace(edit.Stmt(edit.All(edit.Assign("status.Pid"), edit.Mentions("s.Pid"))), `status.Pid = pidOf(s)`),
		edit.In(containerd.CRINRI, edit.Method("criContainer", "GetStatus")).Delete(edit.Stmt(edit.If("status.Pid == 0"))),
		containerd.CRIMethod("internal/cri/server/container_start.go", "StartContainer").Before(edit.Stmt(edit.Call("c.nri.StartContainer")), `if err := noteProcess(cntr, task.Pid()); err != nil {
	return nil, fmt.Errorf("failed to note the process of container %q: %w", id, err)
}

`),
	},
}
