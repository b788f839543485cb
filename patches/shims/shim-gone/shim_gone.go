// SPDX-License-Identifier: Apache-2.0

package shimgone

import "github.com/hookline-nri/hookline/internal/edit"

const sandboxController = "plugins/sandbox/controller.go"

// ShimGone makes a sandbox whose shim died removable.
var ShimGone = edit.Patch{
	Slug:    "shim-gone",
	Module:  "containerd",
	Subject: "sandbox: stop and shut down a sandbox whose shim is gone",
	Body: `A sandbox that its shim runs cannot be stopped or shut down just after
the shim died. The shim is still listed while it is cleaned up, and
calls to it fail with a closed connection. So a RunPodSandbox that fails
because the shim died is not rolled back, and the sandbox stays in state
unknown.

Treat a closed connection, of ttrpc or of gRPC, as a stopped sandbox,
and go on to delete the shim, which waits for the clean-up.

A shim that was started and has no sandbox yet answers that there is
none. CRI does not recognize the class of that answer, and cannot
determine the status of such a pod. Give the answer the class that it
has from other calls.

A shim whose sandbox could not be created is shut down under the context
of the request. If the caller has canceled, the shim leaks. Continue for
ten seconds after that.

This is the controller of shims that run sandboxes; podsandbox and proxy
plugins have code of their own. If a running shim answers Unavailable or
Canceled, the removal fails and is tried again, as before. A shutdown
after a failed start has the caller's time, and ten seconds more if the
caller cancels. Clients of the sandbox service receive NotFound from
Status as before.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L5", "L7"},
	Status: edit.Upstream,
	Until:  "the shim sandbox controller stops and shuts down a sandbox whose shim is gone, and shuts a shim down even if the caller canceled",
	Edits: []edit.Edit{
		edit.In(sandboxController, edit.Method("controllerLocal", "cleanupShim")).Before(edit.Top(), `ctx, done := withGrace(ctx)
defer done()
`),
		edit.In(sandboxController, edit.Method("controllerLocal", "cleanupShim")).Replace(
			edit.Expr("context.WithTimeout(ctx, 5*time.Second)"), "context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)"),
		edit.In(sandboxController, edit.Method("controllerLocal", "Stop")).Before(edit.Stmt(edit.Assign("err")).Within(edit.Call("svc.StopSandbox")), `if c.isGone(ctx, sandboxID, err) {
	return nil
}`),
		edit.In(sandboxController, edit.Method("controllerLocal", "Shutdown")).After(edit.Stmt(edit.Call("svc.ShutdownSandbox")), `if c.isGone(ctx, sandboxID, err) {
	err = nil
}`),
		edit.In(sandboxController, edit.Method("controllerLocal", "Status")).Before(edit.Stmt(edit.Call("fmt.Errorf")).Within(edit.All(edit.If("err != nil"), edit.Has(edit.Mentions("err")))), `err = errgrpc.ToNative(err)`),
		edit.In(sandboxController, edit.Method("controllerLocal", "Shutdown")).Replace(
			edit.Expr("err != nil").Within(edit.Call("c.shims.Delete")), "err != nil && !errdefs.IsNotFound(err)"),
	},
}
