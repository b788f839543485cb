// SPDX-License-Identifier: Apache-2.0

package shims

import "github.com/hookline-nri/hookline/internal/edit"

// ShimStart keeps a shim from leaking when its start is interrupted.
var ShimStart = edit.Patch{
	Slug:    "shim-start",
	Module:  "containerd",
	Subject: "runtime: do not leak a shim whose start is interrupted",
	Body: `A shim process leaks, with no task and an address that nobody knows, if the
caller gives up, or containerd is killed, while the shim's start command runs:
the command has started the shim, and its answer is lost.

Give the command some time after its caller gave up, so that the shim can be
shut down in the usual way. On a restart, run the command again for a bundle
without an address, within the time that loading a shim has anyway. A running
shim answers with its address, and if it has no tasks, it is shut down like any
other shim without tasks. So is that of a sandbox, at once: nobody knew its address,
so it has neither a sandbox nor a task, and some shims fail to stop a sandbox that
they do not have. The runtime of a sandbox that is no container is in its record.
That there is no task in such a shim when it ends is no error.

ctr, moby and nerdctl start shims by the same path. A client that gives up hears
of it as before; its id stays taken until the shim is shut down, ten seconds at
most. Nothing is started for a client that was gone before. A start command that
leaves its output to its shim is waited for without a bound, as before. Other
runtimes see a second start after a restart of containerd, unless the first left
an address in the bundle, as Kata's runtime-rs does. One that fails changes
nothing.`,
	Refs:   []string{"containerd/containerd#6860"},
	Rules:  []string{"L7", "L15", "L17", "L22"},
	Status: edit.Upstream,
	Until:  "containerd shuts down shims whose start command was interrupted",
	Edits: []edit.Edit{
		edit.In("core/runtime/v2/shim_manager.go", edit.Method("ShimManager", "startShim")).Before(edit.Stmt(edit.Call("b.Start")), `if err := ctx.Err(); err != nil {
	return nil, err
}
ctx, done := withGrace(ctx, startGrace)
defer done()
`),
		edit.In("core/runtime/v2/binary.go", edit.Method("binary", "Start")).Before(edit.Stmt(edit.Call("cmd.CombinedOutput")), `cmd.WaitDelay = b.outputTime
`),
		edit.In("core/runtime/v2/binary.go", edit.Type("binary")).AddField(`
// outputTime is how long the output of the start command is waited for after its
// end, which what it started may hold. It is without a bound if it is zero.
outputTime time.Duration`),
		edit.AddImport("core/runtime/v2/binary.go", "time"),
		edit.In("core/runtime/v2/shim.go", edit.Method("shimTask", "delete")).Replace(
			edit.Stmt(edit.Call("log.G")).Within(edit.If("shimErr != nil")), `logDelete(ctx, s.ID(), shimErr)`),
		loadShim.Replace(edit.Expr("m.containers.Get(ctx, id)"), "m.runtimeOf(ctx, id)"),
		loadShim.Replace(edit.Expr("container.Runtime.Name"), "container.Name"),
		loadShim.After(edit.Stmt(edit.Define("binaryCall")), `if m.endStarted(ctx, binaryCall) {
	cleanupAfterDeadShim(context.WithoutCancel(ctx), id, m.shims, m.events, binaryCall)
	return fmt.Errorf("the start of shim %q was interrupted", id)
}`),
	},
}

var loadShim = edit.In("core/runtime/v2/shim_load.go", edit.Method("ShimManager", "loadShim"))
