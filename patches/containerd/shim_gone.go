// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

const sandboxController = "plugins/sandbox/controller.go"

// ShimGone: a sandbox whose shim died can be let go of.
var ShimGone = edit.Patch{
	Slug:    "shim-gone",
	Module:  "containerd",
	Subject: "sandbox: let go of a sandbox whose shim is gone",
	Body: `A sandbox that its shim runs cannot be stopped or shut down in the moment after
the shim died: the shim is still listed while its remains are cleaned up, and
answers that its connection is closed. A RunPodSandbox that fails for just that
reason is not undone, and the sandbox stays as unknown.

Take a closed connection for a sandbox that is stopped, and go on to the deletion
of the shim, which waits for the clean-up.

A shim whose sandbox could not be created is shut down under the context of the
request. If the caller gave up, the shim stays. Give it a context of its own.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L5", "L7"},
	Status: edit.Upstream,
	Until:  "the shim sandbox controller stops and shuts down a sandbox whose shim is gone, and ends a shim whose caller is",
	Edits: []edit.Edit{
		edit.AddImport(sandboxController, "errors"),
		edit.AddImport(sandboxController, "github.com/containerd/ttrpc"),
		edit.In(sandboxController, edit.Method("controllerLocal", "cleanupShim")).Before(edit.Top(), `ctx, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
defer done()
`),
		edit.In(sandboxController, edit.Method("controllerLocal", "Stop")).Before(edit.Stmt(edit.Assign("err")).Within(edit.Call("svc.StopSandbox")), `if errors.Is(err, ttrpc.ErrClosed) {
	return nil
}`),
		edit.In(sandboxController, edit.Method("controllerLocal", "Shutdown")).After(edit.Stmt(edit.Call("svc.ShutdownSandbox")), `if errors.Is(err, ttrpc.ErrClosed) {
	err = nil
}`),
		edit.In(sandboxController, edit.Method("controllerLocal", "Shutdown")).Replace(
			edit.Expr("err != nil").Within(edit.Call("c.shims.Delete")), "err != nil && !errdefs.IsNotFound(err)"),
	},
}
