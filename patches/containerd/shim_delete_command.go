// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// ShimDeleteCommand keeps the delete command of shims for those that are lost.
var ShimDeleteCommand = edit.Patch{
	Slug:    "shim-delete-command",
	Module:  "containerd",
	Subject: "runtime: run a shim's delete command only if the shim was lost",
	Body: `The end of every container starts two processes for nothing: the shim's binary
with the command delete, and runc from there. The command is for a container whose
shim is gone. It is run for all of them, since containerd closes the connection
itself after it has deleted the task, and takes that for the loss of a shim.

Leave it out where the shim has answered both the deletion of its task and its
shutdown: it has done by then what the command would do. What else the command did
is to take time, in which the shim removed its sockets, whose folder it looks up
in its bundle. So wait until the shim has ended, for a second at most, before the
bundle goes. The shim of a sandbox in which others still run is not awaited.`,
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
		edit.In("core/runtime/v2/shim.go", edit.Func("cleanupAfterDeadShim")).Before(edit.Stmt(edit.Define("response")), `if binaryCall.bundle.deleted.Load() {
	awaitEnd(ctx, id, rt, binaryCall.bundle)
	return // who closed the connection removes the bundle
}
`),
	},
}

var shimTaskDelete = edit.In("core/runtime/v2/shim.go", edit.Method("shimTask", "delete"))
