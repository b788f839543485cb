// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// ShimStart: a shim that was started is known, whoever ends meanwhile.
var ShimStart = edit.Patch{
	Slug:    "shim-start",
	Module:  "containerd",
	Subject: "runtime: lose no shim that was started",
	Body: `A shim process stays for good, with no task and no one who knows its address,
if the caller gives up, or containerd is killed, while the shim's start command
runs: the command has started the shim, and its answer is lost.

Give the command some time after its caller gave up, so that the shim can be
ended in the usual way. On a restart, run the command again for a bundle
without an address. A shim that runs answers with its address, and one without
tasks is ended as any other that is found.`,
	Refs:   []string{"containerd/containerd#6860"},
	Rules:  []string{"L7", "L15"},
	Status: edit.Upstream,
	Until:  "containerd ends shims whose start command it did not see through",
	Edits: []edit.Edit{
		edit.In("core/runtime/v2/binary.go", edit.Method("binary", "Start")).Before(edit.Top(), `ctx, done := linger(ctx, startGrace)
defer done()
`),
		edit.In("core/runtime/v2/shim_load.go", edit.Method("ShimManager", "loadShim")).After(edit.Stmt(edit.Define("binaryCall")), `findStarted(ctx, binaryCall)`),
	},
}
