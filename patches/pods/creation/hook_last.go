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
	Body: `The sandbox store may reject a sandbox after NRI's RunPodSandbox hook, and a
sandbox that dies during the hook fails the creation when all plugins have been
asked, not before: they go on to set up what nobody uses.

Reserve the sandbox's place in the store before the hook, and let the exit of its
process cancel the creation, even while a plugin has not answered yet. This takes
the place of the look at the process after the hook. After the last plugin has
agreed, nothing can fail.

The kubelet sees the pod in no list before the last plugin agreed, as before. Events of the
pod come after that, too.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L5"},
	Status: edit.Upstream,
	Until:  "nothing that can fail comes after the NRI hook in RunPodSandbox, and the exit of the sandbox fails it",
	Needs:  []string{"containerd/pods-being-created", "containerd/wait-before-hook"},
	Edits: []edit.Edit{
		// What makes a creation fail.
		edit.In(creationFile, edit.Type("Creation")).AddField(`
failing`),
		containerd.Run.After(edit.Stmt(edit.All(edit.Defer(), edit.Call("creation.End"))), `

// ctx is cancelled when the creation is made to fail.
ctx = creation.Context(ctx)
defer func() { retErr = creation.Explain(retErr) }()
`),
		containerd.Run.Before(edit.Stmt(edit.Call("undo.run")), "creation.Undo()"),

		// What may make it fail comes before the hook.
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
		containerd.Run.Replace(edit.Stmt(edit.All(edit.Call("c.sandboxStore.Add"), edit.Has(edit.Call("fmt.Errorf")))), `// All plugins agreed. Nothing that can fail comes after this.
if err := creation.Seal(); err != nil {
	return nil, err
}
c.becomeReady(sandbox)
`),
		containerd.Run.Comment(edit.Stmt(edit.Mentions("runtime.ContainerEventType_CONTAINER_CREATED_EVENT")), `// CONTAINER_CREATED, with the id of the sandbox as that of the container. It carries
// the status of the sandbox, which has to be in the store for that.`),
		containerd.Run.Comment(edit.Stmt(edit.Call("c.startSandboxExitMonitor")), `// The exit has been watched since before the hook. One that came after the creation
// was sealed waits for the monitor, which looks the sandbox up in the store.`),
		containerd.Run.Replace(edit.Expr("c.startSandboxExitMonitor(context.Background(), id, exitCh)"), "c.startSandboxExitMonitor(context.Background(), id, exit.end())"),
	},
}
