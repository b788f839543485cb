// SPDX-License-Identifier: Apache-2.0

package shimevents

import "github.com/hookline-nri/hookline/internal/edit"

// ShimEvents lets the shim publish its events before it ends.
var ShimEvents = edit.Patch{
	Slug:    "shim-events",
	Module:  "containerd",
	Subject: "shim: publish events before the process ends",
	Body: `Clients of containerd miss the exit or the deletion of a container. The
shim for runc publishes its events after the calls that cause them. At
its shutdown, the process ends without waiting for events that are not
published yet, or not even created: a client that waits for an exit
knows of it before its event is in the queue. The pause container of a
pod is deleted as soon as it has exited, and its shim is shut down with
it. On a busy machine one deletion in six was lost, and one exit in
forty. The faster containerd deletes, the more are lost.

Let the shutdown wait until the events are published, for five seconds
at most, because a containerd that does not take them must not keep the
shim alive. The delete command, which gave the shim the time by chance,
is not needed for that. Remove the sockets when the shutdown begins,
because the container's next shim uses the same names. That holds for
each shim that is built with pkg/shim; existing connections stay. A shim
that was started before this patch ends as before.`,
	Rules:  []string{"L15"},
	Status: edit.Upstream,
	Until:  "a shim that is shut down has published all events before its process ends",
	Edits: []edit.Edit{
		edit.In(shimTaskService, edit.Type("service")).AddField(`
// flush publishes the events before the shim ends.
flush *flush`),
		edit.In(shimTaskService, edit.Func("NewTaskService")).Before(edit.Stmt(edit.Call("s.forward")), `s.flush = newFlush()
sd.RegisterCallback(s.flush.wait)
`),
		edit.In(shimTaskService, edit.Method("service", "forward")).Before(edit.Top(), "defer s.flush.end()"),
		edit.In(shimTaskService, edit.Method("service", "handleProcessExit")).Before(edit.Top(), "defer s.flush.exit()()"),
		edit.In(shimTaskService, edit.Method("service", "forward")).Replace(edit.Expr("<-s.shutdown.Done()"), "<-s.flush.begun"),
		edit.In(shimMain, edit.Func("run")).Replace(edit.Stmt(edit.Call("cleanupSockets")).Times(2), "removeSockets()"),
		edit.In(shimMain, edit.Func("run")).Before(edit.Stmt(edit.Range("ttrpcServices")), `// The container's next shim has sockets of the same names. It may start while this one still
// publishes: the sockets of this one are removed by then, and must not be removed again.
removeSockets := sync.OnceFunc(func() { cleanupSockets(ctx) })
sd.RegisterCallback(func(context.Context) error {
	removeSockets()
	return nil
})

`),
		edit.AddImport(shimMain, "sync"),
	},
}

const (
	shimTaskService = "cmd/containerd-shim-runc-v2/task/service.go"
	shimMain        = "pkg/shim/shim.go"
)
