// SPDX-License-Identifier: Apache-2.0

package shims

import "github.com/hookline-nri/hookline/internal/edit"

// ShimStart ends shims whose start was interrupted.
var ShimStart = edit.Patch{
	Slug:    "shim-start",
	Module:  "containerd",
	Subject: "runtime: do not leak a shim whose start is interrupted",
	Body: `A shim process leaks, with no task and an unknown address, if the caller
cancels, or containerd is killed, while the shim's start command runs.
The command has started the shim, and its answer is lost.

Give the command some time after its caller has canceled, so that the
shim can be shut down in the usual way. On a restart, run the command
again for a bundle without an address, within the existing time for
loading a shim. A running shim answers with its address. If it has no
tasks, it is shut down like any other shim without tasks. The shim of a
sandbox is shut down at once: its address was not known, so it has
neither a sandbox nor a task, and some shims fail to stop a sandbox that
they do not have. If a sandbox is no container, its runtime is taken
from its record. A missing task in such a shim is no error when the shim
ends.

ctr, moby and nerdctl start shims in the same way. A client that cancels
receives the error as before. Its id stays taken until the shim is shut
down, for ten seconds at most. No shim is started for a client that has
canceled before. If a start command leaves its output to its shim, the
wait for it is unbounded, as before. Other runtimes see a second start
after a restart of containerd, unless the first one left an address in
the bundle, as Kata's runtime-rs does. A second start that fails changes
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
// outputTime is how long to wait for the output of the start command after its end. A
// process that it started may hold the output. Zero is unbounded.
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
