// SPDX-License-Identifier: Apache-2.0

package waitbeforehook

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// WaitBeforeHook watches the process of a sandbox before NRI's hook, so that what can
// fail a pod is before it or is in it.
var WaitBeforeHook = edit.Patch{
	Slug:    "wait-before-hook",
	Module:  "containerd",
	Subject: "cri,nri: watch a sandbox before its RunPodSandbox hook",
	Body: `NRI plugins get RunPodSandbox before the exit of the sandbox is watched. A
sandbox that dies during the hook becomes ready all the same, and plugins have
set up what nobody uses. If the watch cannot be started, RunPodSandbox fails
with the sandbox in the store, as ready, under an id that the caller never gets.

Start the watch before the hook, and look once more when all plugins have
agreed. Then the sandbox is put into the store, which can only fail where a
label of SELinux cannot be reserved.

WaitSandbox of a controller is called before the hook. One that returns an error
fails the creation, and is rolled back like all that fails before the hook. The
wait for a sandbox whose creation failed is cancelled.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L5"},
	Status: edit.Upstream,
	Needs:  []string{"containerd/undo-rejected-pod"},
	Until:  "the exit of a sandbox is watched before its NRI hook, and fails the hook",
	Edits: []edit.Edit{
		containerd.Run.MoveBefore(edit.Stmt(edit.Define("exitCh", "err")).And(1), edit.Stmt(edit.All(edit.Defer(), edit.Call("c.nri.BlockPluginSync().Unblock")))),
		containerd.Run.Before(edit.Stmt(edit.Define("exitCh", "err")), `// waiting is cancelled when the creation has failed: a controller may not come back to tell
// of the exit.
waiting, leave := context.WithCancel(util.NamespacedContext())
defer func() {
	if retErr != nil {
		leave()
	}
}()
`),
		containerd.Run.Replace(edit.Expr("c.sandboxService.WaitSandbox(util.NamespacedContext(), sandbox.Sandboxer, id)"), "c.sandboxService.WaitSandbox(waiting, sandbox.Sandboxer, id)"),
		containerd.Run.After(edit.Stmt(edit.Call("c.nri.RunPodSandbox")).And(1), `if err := exitedInHook(exitCh); err != nil {
	return nil, fmt.Errorf("sandbox %q did not outlive its NRI hook: %w", id, err)
}`),
	},
}
