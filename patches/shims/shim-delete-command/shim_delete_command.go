// SPDX-License-Identifier: Apache-2.0

package shimdeletecommand

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
else the command did is to take time, in which the shim removed its sockets. It does
so by their names, and they are those of the shim that the same container gets next.
So wait until they are removed, which takes a shim some milliseconds. One that serves
other tasks goes on and keeps them. Where they are still there after a second, and
where their names are not known, as the shim was started for a task before this one,
the command is run. The shim may also be about to write how a container ended, which
it hears after the deletion of one that was never started. A file that comes while the
bundle is removed keeps the hidden directory that the bundle has become. So a second
removal, which the end of each shim has, takes what the first has left.

Other shims may rely on it, since it is a part of the normal end of a task: Kata's
removes its socket there, others close their listener before they look up what to
remove. Nothing changes for these.

ctr, moby and nerdctl end their tasks by the same path. They may start the same
container again as soon as its task is deleted. Containers that share a shim wait
for nothing. Shims of another version of containerd are asked nothing new.`,
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
	if err := binaryCall.bundle.Delete(); err != nil {
		log.G(ctx).WithError(err).WithField("id", id).Warn("failed to remove the bundle of a shim that has ended")
	}
	return
}
`),
		edit.In("core/runtime/v2/bundle.go", edit.Func("atomicDelete")).Replace(edit.Stmt(edit.Return("nil")), "return os.RemoveAll(atomicPath) // a file may have come while it was removed before"),
	},
}

var shimTaskDelete = edit.In("core/runtime/v2/shim.go", edit.Method("shimTask", "delete"))
