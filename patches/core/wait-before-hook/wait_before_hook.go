// SPDX-License-Identifier: Apache-2.0

package waitbeforehook

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// WaitBeforeHook watches the process of a sandbox before NRI's hook, so that no step after
// the hook can fail a pod.
var WaitBeforeHook = edit.Patch{
	Slug:    "wait-before-hook",
	Module:  "containerd",
	Subject: "cri,nri: watch a sandbox before its RunPodSandbox hook",
	Body: `NRI plugins receive RunPodSandbox before containerd watches the exit of the
sandbox. A sandbox that dies during the hook becomes ready all the same, and
plugins have set up a pod that does not run. If the watch cannot be started,
RunPodSandbox fails, but the sandbox stays in the store as ready, under an id
that the caller never gets.

Start the watch before the hook, and check the exit once more after all plugins
have approved. The sandbox then enters the store. This can only fail if its
SELinux label cannot be reserved.

WaitSandbox of a controller is called before the hook. If it returns an error,
the creation fails, and is rolled back like any failure before the hook. If a
creation fails, the wait for its sandbox is canceled.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L5"},
	Status: edit.Upstream,
	Needs:  []string{"containerd/undo-rejected-pod"},
	Until:  "the exit of a sandbox is watched before its NRI hook, and fails the hook",
	Edits: []edit.Edit{
		containerd.Run.MoveBefore(edit.Stmt(edit.Define("exitCh", "err")).And(1), edit.Stmt(edit.All(edit.Defer(), edit.Call("c.nri.BlockPluginSync().Unblock")))),
		containerd.Run.Before(edit.Stmt(edit.Define("exitCh", "err")), `// waiting is canceled when the creation has failed: a controller may never report the exit
// of such a sandbox.
waiting, leave := context.WithCancel(util.NamespacedContext())
defer func() {
	if retErr != nil {
		leave()
	}
}()
`),
		containerd.Run.Replace(edit.Expr("c.sandboxService.WaitSandbox(util.NamespacedContext(), sandbox.Sandboxer, id)"), "c.sandboxService.WaitSandbox(waiting, sandbox.Sandboxer, id)"),
		containerd.Run.After(edit.Stmt(edit.Call("c.nri.RunPodSandbox")).And(1), `if err := exitedInHook(exitCh); err != nil {
	return nil, fmt.Errorf("sandbox %q ended during its NRI hook: %w", id, err)
}`),
	},
}
