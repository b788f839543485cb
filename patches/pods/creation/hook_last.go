// SPDX-License-Identifier: Apache-2.0

package creation

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// HookLast makes NRI's hook the last step that can fail a pod.
var HookLast = edit.Patch{
	Slug:    "hook-last",
	Module:  "containerd",
	Subject: "cri,nri: make the hook the last step of RunPodSandbox",
	Body: `A pod can fail after NRI's RunPodSandbox hook: the sandbox store may
still reject the sandbox. A sandbox that dies during the hook fails the
creation only after all plugins have received it, and they set up
resources that no pod uses.

Reserve the sandbox's place in the store before the hook. Let the exit
of its process cancel the creation, even while a plugin has not answered
yet; this replaces the check of the process after the hook. A caller
that cancels while the last plugin approves the pod fails it, too: no
client would know of it. After that, nothing can fail.

As before, no list shows the pod before the last plugin has approved it.
Events of the pod come after that, too.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L5", "L7"},
	Status: edit.Upstream,
	Until:  "no step that can fail comes after the NRI hook in RunPodSandbox, and the exit of the sandbox fails RunPodSandbox",
	Needs:  []string{"containerd/pods-being-created", "containerd/wait-before-hook"},
	Edits: []edit.Edit{
		// A creation can be made to fail.
		edit.In(creationFile, edit.Type("Creation")).AddField(`
failing`),
		containerd.Run.After(edit.Stmt(edit.All(edit.Defer(), edit.Call("creation.End"))), `

// ctx is canceled when the creation is made to fail.
ctx = creation.Context(ctx)
defer func() { retErr = creation.Explain(retErr) }()
`),
		containerd.Run.Before(edit.Stmt(edit.Call("undo.run")), "creation.Undo()"),

		// All steps that may fail come before the hook.
		containerd.Run.Delete(edit.Stmt(edit.Call("exitedInHook"))),
		edit.DropFile("internal/cri/server/sandbox_hook.go"),
		edit.DropFile("internal/cri/server/sandbox_hook_linux_test.go"),
		containerd.Run.After(edit.Stmt(edit.Define("exitCh", "err")).And(1), `exit := failOnExit(creation, exitCh)
defer exit.end()

if err := c.sandboxStore.Reserve(sandbox); err != nil {
	return nil, fmt.Errorf("failed to reserve sandbox %q in the store: %w", id, err)
}
undo.push("release_reservation", func(context.Context) error {
	c.sandboxStore.Release(sandbox)
	return nil
})
`),
		containerd.Run.Delete(edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Assign("status.State"))))),
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Call("c.sandboxStore.Add"), edit.Has(edit.Call("fmt.Errorf")))), `// All plugins have approved the pod. Nothing that can fail comes after this.
if err := creation.Seal(ctx); err != nil {
	return nil, err
}
c.becomeReady(sandbox)
`),
		containerd.Run.Comment(edit.Stmt(edit.Mentions("runtime.ContainerEventType_CONTAINER_CREATED_EVENT")), `// CONTAINER_CREATED, with the id of the sandbox as that of the container. It carries
// the status of the sandbox, so the sandbox must be in the store.`),
		containerd.Run.Comment(edit.Stmt(edit.Call("c.startSandboxExitMonitor")), `// The exit has been watched since before the hook. An exit after the creation was
// sealed waits for the monitor, which looks the sandbox up in the store.`),
		containerd.Run.Replace(edit.Expr("c.startSandboxExitMonitor(context.Background(), id, exitCh)"), "c.startSandboxExitMonitor(context.Background(), id, exit.end())"),
	},
}
