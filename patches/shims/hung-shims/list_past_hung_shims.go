// SPDX-License-Identifier: Apache-2.0

package hungshims

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// ListPastHungShims lists containers to plugins from what is kept of them.
var ListPastHungShims = edit.Patch{
	Slug:    "list-past-hung-shims",
	Module:  "containerd",
	Subject: "cri,nri: list containers without asking their shims",
	Body: `A shim that does not answer keeps every NRI plugin of the node out. For each of
its containers, the list that plugins are synchronized with waits two seconds,
one after the other: three containers, and whoever joins has used up its
registration timeout. All that the shim is asked for is the process id of the
container, and it is asked again for each event.

Take the process id from the container's status, which CRI keeps and writes to
disk, so that it is there after a restart. Note it as soon as the process is
there: plugins get it with StartContainer. Then no list and no event depends on
a shim, and nothing has to be left out.

After a restart, a container whose shim did not tell its state is in none of
the lists, so that plugins neither count it in nor hear of its end, although
it runs, as far as anybody knows. List it, with a state that is not known.

A container whose record cannot be read any more, as it is being removed, has no
process to take limits from. Say that it has none.

Leave out a container that is being removed: its record may go while it is
read, and plugins would be told of a container without a pod and a name.
Whoever knows it is told of its removal.

Plugins see two things that they did not: containers in state UNKNOWN in
Synchronize, with the process id that was last known, and the id in
StartContainer without the shim having been asked again. The status file has the
same fields; an unpatched containerd reads it, and ignores the process id of a
container that does not run.`,
	Refs:   []string{"containerd/containerd#14083", "containerd/nri#63"},
	Rules:  []string{"L2", "L13", "L15", "L22"},
	Status: edit.Upstream,
	Until:  "containerd asks no shim in order to tell NRI plugins of a container",
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
