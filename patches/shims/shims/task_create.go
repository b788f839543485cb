// SPDX-License-Identifier: Apache-2.0

package shims

import "github.com/hookline-nri/hookline/internal/edit"

// TaskCreate waits for a shim that creates a task even if the caller canceled.
var TaskCreate = edit.Patch{
	Slug:    "task-create",
	Module:  "containerd",
	Subject: "runtime: let a shim complete the creation of a task",
	Body: `A shim process leaks, with no task and an unknown address, if the caller
cancels while the shim creates the task. A delete follows, which finds
no task yet, and a shutdown, which has no effect if the task exists by
then. In a shim of several containers the task stays in the shim's list,
so that the shim does not exit with its pod.

Wait some time for the shim's answer although the caller has canceled,
and delete the task in the usual way. The shim receives the caller's
deadline as before. Some shims, Kata's among them, abandon the creation
at the deadline and answer then. Request the pid of the task even if the
caller cancels after the creation, because a caller that receives an
error there does not know that there is a task to delete.

This affects all clients and shims. A client with a deadline can use its
id again right after the deadline, as before. If a client cancels, its
id stays taken for up to ten seconds, and a second task under it fails
with AlreadyExists.`,
	Refs:   []string{"containerd/containerd#6860"},
	Rules:  []string{"L7"},
	Status: edit.Upstream,
	Until:  "a shim can be asked to exit once no creation is under way in it",
	Needs:  []string{"containerd/shim-start"},
	Edits: []edit.Edit{
		edit.In("core/runtime/v2/shim.go", edit.Method("shimTask", "Create")).
			Replace(edit.Expr("s.task.Create(ctx, request)"), "callWithGrace(ctx, startGrace, request, s.task.Create)"),
		edit.In("plugins/services/tasks/local.go", edit.Method("local", "Create")).
			Replace(edit.Expr("c.PID(ctx)"), "createdPID(ctx, c)"),
	},
}
