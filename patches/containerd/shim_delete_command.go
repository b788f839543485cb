// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// ShimDeleteCommand keeps the delete command of the shim for runc for one that is lost.
var ShimDeleteCommand = edit.Patch{
	Slug:    "shim-delete-command",
	Module:  "containerd",
	Subject: "runtime: run the delete command of runc's shim only if the shim was lost",
	Body: `The end of every container starts two processes for nothing: the shim's binary
with the command delete, and runc from there. The command is for a container whose
shim is gone. It is run for all of them, since containerd closes the connection
itself after it has deleted the task, and takes that for the loss of a shim.

Leave it out where the shim of io.containerd.runc.v2 has answered both the deletion
of its task and its shutdown: it has done by then what the command would do. What
else the command did is to take time, in which the shim removed its sockets, whose
folder it looks up in its bundle. So remove the sockets in its place, that for
debugging included. Nobody waits for the shim to end. One that serves other tasks goes
on and keeps them, and where the names of the sockets are not known, as the shim was
started for a task before this one, the command is run.

Other shims may rely on it, since it is a part of the normal end of a task: Kata's
removes its socket there, others close their listener before they look up what to
remove. Nothing changes for these.`,
	Rules:  []string{"L15"},
	Status: edit.Upstream,
	Until:  "no delete command is run for a shim that deleted its task and shut down",
	Edits: []edit.Edit{
		edit.In("core/runtime/v2/bundle.go", edit.Type("Bundle")).AddField(`
// deleted says that the shim has deleted the task, and was told to shut down.
deleted atomic.Bool`),
		edit.AddImport("core/runtime/v2/bundle.go", "sync/atomic"),
		shimTaskDelete.Replace(edit.Expr("s.waitShutdown(ctx)"), "s.shutDownAfter(ctx, shimErr)"),
		shimTaskDelete.Before(edit.Stmt(edit.Mentions("s.ShimInstance.Delete(ctx)")), `if sandboxed {
	noteDeleted(s.ShimInstance, shimErr == nil) // its sandbox shuts the shim down
}
`).Below("v2.4"),
		edit.In("core/runtime/v2/shim.go", edit.Func("cleanupAfterDeadShim")).Before(edit.Stmt(edit.Define("response")), `if hasDeletedAll(ctx, id, rt, binaryCall) {
	return // who closed the connection removes the bundle
}
`),
	},
}

var shimTaskDelete = edit.In("core/runtime/v2/shim.go", edit.Method("shimTask", "delete"))
