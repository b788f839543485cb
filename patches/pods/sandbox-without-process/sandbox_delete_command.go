// SPDX-License-Identifier: Apache-2.0

package sandboxwithoutprocess

import "github.com/hookline-nri/hookline/internal/edit"

// SandboxDeleteCommand runs the delete command of the shim of a sandbox only if the shim was lost.
var SandboxDeleteCommand = edit.Patch{
	Slug:    "sandbox-delete-command",
	Module:  "containerd",
	Subject: "runtime: run the delete command of a sandbox's shim only if it was lost",
	Body: `The removal of a sandbox closes the connection to its shim, and takes
that for the loss of the shim. So the removal starts the delete command,
which finds nothing to do: the shim has answered the shutdown, and has
removed its mounts and its sockets.

Do not run the command after such an answer, as after the deletion of a
task, if the shim is the one that makes sandboxes for runc. The command
runs if the shim keeps a socket for longer than a second, and always for
other shims, which may rely on it.`,
	Rules:  []string{"L15"},
	Status: edit.Upstream,
	Until:  "no delete command is run for the shim of a sandbox that shut down",
	Needs:  []string{"containerd/shim-delete-command", "containerd/sandboxed-shim"},
	Edits: []edit.Edit{
		edit.In("core/runtime/v2/shim_end.go", edit.Func("isForRunc")).Replace(edit.Expr(`filepath.Base(b.runtime) == "containerd-shim-runc-v2"`),
			"slices.Contains(shimsForRunc, filepath.Base(b.runtime))"),
		edit.AddImport("core/runtime/v2/shim_end.go", "slices"),
		shutdownOfSandbox.Before(edit.Stmt(edit.Call("svc.ShutdownSandbox")), "c.shims.NoteEnd(ctx, sandboxID, true) // the connection may close while the answer is read"),
		shutdownOfSandbox.After(edit.Stmt(edit.Call("svc.ShutdownSandbox")), "c.shims.NoteEnd(ctx, sandboxID, err == nil)"),
	},
}

var shutdownOfSandbox = edit.In("plugins/sandbox/controller.go", edit.Method("controllerLocal", "Shutdown"))
