// SPDX-License-Identifier: Apache-2.0

package shims

import "github.com/hookline-nri/hookline/internal/edit"

const taskManager = "core/runtime/v2/task_manager.go"

// TaskDelete has one caller at a time delete a task.
var TaskDelete = edit.Patch{
	Slug:    "task-delete",
	Module:  "containerd",
	Subject: "runtime: delete a task once at a time",
	Body: `A shim process leaks when two callers delete its last task at the same time, as
the exit monitor of a sandbox and the roll-back of its creation do. The shim
answers the second that there is no task while the first deletion has still to
take it off the shim's list. The shutdown that follows finds the task there, and
has no effect; then the connection is closed and the shim forgotten, while the
first is still to be answered. On a busy machine that was seen once in some
hundred roll-backs. A shim that waits for 300 ms between the two steps leaks each
time.

Let the second wait for the first. It gets the same exit status then, where it is known,
or finds no shim.

Before v2.4 a shim leaks, too, when the sandbox's own task ended first: the
deletion of the last container leaves it to the sandbox to shut it down. Shut it
down if it is listed for no sandbox any more. A shim that has containers left
takes no notice.

moby, nerdctl and ctr delete tasks by the same path, and moby may do so twice at
once. A deletion that hangs holds up others of the same task alone, each for as
long as its own context lasts. Processes of an exec are deleted as before.`,
	Refs:   []string{"containerd/containerd#7496", "containerd/containerd#8931"},
	Rules:  []string{"L7", "L15"},
	Status: edit.Upstream,
	Until:  "two deletions of a task at once leave no shim",
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
// deletions has one caller at a time delete a task. Its keys are of lockTask.
deletions kmutex.KeyedLocker`),
		edit.In("core/runtime/v2/shim_manager.go", edit.Func("NewShimManager")).After(edit.Stmt(edit.Define("m")), "m.deletions = kmutex.New()"),
		edit.AddImport("core/runtime/v2/shim_manager.go", "github.com/containerd/containerd/v2/internal/kmutex"),
		edit.In(taskManager, edit.Method("TaskManager", "Delete")).After(edit.Stmt(edit.Define("sandboxed")), `if sandboxed {
	_, err := m.manager.shims.Get(ctx, container.SandboxID)
	sandboxed = err == nil
}`).Below("v2.4"),
	},
}
