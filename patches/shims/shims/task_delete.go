// SPDX-License-Identifier: Apache-2.0

package shims

import "github.com/hookline-nri/hookline/internal/edit"

const taskManager = "core/runtime/v2/task_manager.go"

// TaskDelete lets one caller at a time delete a task.
var TaskDelete = edit.Patch{
	Slug:    "task-delete",
	Module:  "containerd",
	Subject: "runtime: delete a task once at a time",
	Body: `A shim process leaks when two callers delete its last task at the same
time, as the exit monitor of a sandbox and the roll-back of its creation
do. The shim answers the second deletion that there is no task, before
the first one has removed the task from the shim's list. The shutdown
that follows finds the task, and has no effect. Then the connection is
closed and the shim is forgotten, before the first deletion is answered.
On a busy machine that happened once in some hundred roll-backs. A shim
that waits for 300 ms between the two steps leaks each time.

Let the second deletion wait for the first. It then returns the same
exit status, if it is known, or finds no shim.

Before v2.4 a shim also leaks when the sandbox's own task ended first:
the deletion of the last container leaves the shutdown of the shim to
the sandbox. Shut the shim down if it is listed for no sandbox any more.
A shim with other containers ignores that.

moby, nerdctl and ctr delete tasks in the same way, and moby may do so
twice at once. A deletion that hangs delays only other deletions of the
same task, each until its own context ends. Processes of an exec are
deleted as before.`,
	Refs:   []string{"containerd/containerd#7496", "containerd/containerd#8931"},
	Rules:  []string{"L7", "L15"},
	Status: edit.Upstream,
	Until:  "two deletions of a task at once do not leak a shim",
	Edits: []edit.Edit{
		edit.In(taskManager, edit.Method("TaskManager", "Delete")).Before(edit.Top(), `before, _ := m.manager.shims.Get(ctx, taskID)
unlock, err := m.manager.lockTask(ctx, taskID)
if err != nil {
	return nil, err
}
defer unlock()
if exit := m.manager.deletedMeanwhile(ctx, taskID, before); exit != nil {
	return exit, nil
}
`),
		edit.In("core/runtime/v2/shim_manager.go", edit.Type("ShimManager")).AddField(`
// deletions lets one caller at a time delete a task. Its keys are those of lockTask.
deletions kmutex.KeyedLocker`),
		edit.In("core/runtime/v2/shim_manager.go", edit.Func("NewShimManager")).After(edit.Stmt(edit.Define("m")), "m.deletions = kmutex.New()"),
		edit.AddImport("core/runtime/v2/shim_manager.go", "github.com/containerd/containerd/v2/internal/kmutex"),
		edit.In(taskManager, edit.Method("TaskManager", "Delete")).After(edit.Stmt(edit.Define("sandboxed")), `if sandboxed {
	_, err := m.manager.shims.Get(ctx, container.SandboxID)
	sandboxed = err == nil
}`).Below("v2.4"),
	},
}
