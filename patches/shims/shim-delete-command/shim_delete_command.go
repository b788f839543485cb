// SPDX-License-Identifier: Apache-2.0

package shimdeletecommand

import "github.com/hookline-nri/hookline/internal/edit"

// ShimDeleteCommand runs the delete command of the shim for runc only for shims that were lost.
var ShimDeleteCommand = edit.Patch{
	Slug:    "shim-delete-command",
	Module:  "containerd",
	Subject: "runtime: run the delete command of runc's shim only if the shim was lost",
	Body: `The end of every container starts two processes for nothing: the shim's
binary with the command delete, and runc from there. The command is
meant for a container whose shim was lost. It runs for all containers,
because containerd closes the connection itself after it has deleted the
task, and takes that for the loss of the shim.

Do not run the command if the shim of io.containerd.runc.v2 has answered
both the deletion of its task and its shutdown. The shim has done the
work of the command by then.

The command also took time, in which the shim removed its sockets. The
shim removes them by their names, and the container's next shim uses the
same names. So wait until they are removed, which takes a shim some
milliseconds. A shim that serves other tasks goes on and keeps them. If
the sockets still exist after a second, the command runs. It also runs
if their names are not known, because the shim was started for an
earlier task.

The shim may also be about to write the exit of a container. If the
container was never started, the exit comes after the deletion. A file
that is written while the bundle is removed prevents the removal of the
hidden directory that the bundle has become. So a second removal, which
happens at the end of each shim, removes the rest.

Other shims may rely on the command as a part of the normal end of a
task: Kata's removes its socket there, and others close their listener
before they look up what to remove. Nothing changes for these.

ctr, moby and nerdctl end their tasks in the same way. They may start
the same container again as soon as its task is deleted. Containers that
share a shim wait for nothing. Shims of another version of containerd
receive no new requests.`,
	Rules:  []string{"L15"},
	Status: edit.Upstream,
	Until:  "no delete command is run for a shim that deleted its task and shut down",
	Edits: []edit.Edit{
		edit.In("core/runtime/v2/bundle.go", edit.Type("Bundle")).AddField(`
// deleted is whether the shim has deleted the task and received its shutdown.
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
		edit.In("core/runtime/v2/bundle.go", edit.Func("atomicDelete")).Replace(edit.Stmt(edit.Return("nil")), "return os.RemoveAll(atomicPath) // a file may have been written during an earlier removal"),
	},
}

var shimTaskDelete = edit.In("core/runtime/v2/shim.go", edit.Method("shimTask", "delete"))
