// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// TaskCreate: a shim that creates a task is ended when it has.
var TaskCreate = edit.Patch{
	Slug:    "task-create",
	Module:  "containerd",
	Subject: "runtime: let a shim see the creation of a task through",
	Body: `A shim process stays for good, with no task and no one who knows its address,
if the caller gives up while the shim creates the task. What follows is a
delete, which finds no task yet, and a shutdown, which finds one if the
creation ended in between, and then has no effect. In a shim of several
containers the task stays in its list, so that it does not end with its pod.

Wait some time for the shim's answer although the caller gave up, and delete
what was created in the usual way. The caller's deadline is not sent to the
shim, whose process would be killed in the middle.`,
	Refs:   []string{"containerd/containerd#6860"},
	Rules:  []string{"L7"},
	Status: edit.Upstream,
	Until:  "a shim can be told to end when no creation is under way in it",
	Edits: []edit.Edit{
		edit.In("core/runtime/v2/shim.go", edit.Method("shimTask", "Create")).
			Replace(edit.Expr("s.task.Create(ctx, request)"), "seeThrough(ctx, startGrace, request, s.task.Create)"),
	},
}
