// SPDX-License-Identifier: Apache-2.0

package sandboxphase

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

var stopContainer = containerd.CRIMethod("internal/cri/server/container_stop.go", "StopContainer")

// StartAgainstStop lets no container start in a sandbox whose stop has begun.
var StartAgainstStop = edit.Patch{
	Slug:    "start-against-stop",
	Module:  "containerd",
	Subject: "cri: reject containers that the stop of their sandbox would miss",
	Body: `A container that is stored or started while its sandbox is being stopped
can keep running in a sandbox without a network. StopPodSandbox lists
the containers of a sandbox once, and misses a later one. The sandbox
rejects containers only once its own process has ended. That is after
NRI plugins have answered StopPodSandbox, which may take a while.

Store and start a container inside of an entry of its sandbox. The stop
closes the entry before it lists the containers, and later containers
are rejected. The stop waits until all containers inside have left, for
ten seconds at most. A start that hangs does not block the stop, and is
undone when it continues. The entry replaces the list of sandboxes that
are being stopped.

Do not send plugins the stop of a container that was not started. It can
still be started, but plugins would reject that.

The kubelet starts no containers in a pod that it stops. It receives
FailedPrecondition if another client, such as crictl, stops the pod. Its
own stop takes up to ten seconds longer if a start hangs. Tasks that
ctr, moby or nerdctl start are not affected.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#8426"},
	Rules:  []string{"L1", "L10", "L11"},
	Status: edit.Upstream,
	Until:  "containerd creates and starts no containers in a sandbox once its stop has listed them",
	Needs:  []string{"containerd/sandbox-phase"},
	Edits: []edit.Edit{
		// The entry replaces the list of sandboxes that are being stopped.
		containerd.ServiceType.Delete(edit.Field("stopping")),
		edit.DropFile("internal/cri/store/sandbox/stopping.go"),
		edit.DropFile("internal/cri/store/sandbox/stopping_test.go"),
		containerd.Stop.Delete(edit.Stmt(edit.Call("c.stopping.Begin"))),
		containerd.CreateContainer.Replace(edit.Expr(containerd.NotReadyOrStopping), containerd.NotReady),
		containerd.StartContainer.Replace(edit.Expr(containerd.NotReadyOrStopping), containerd.NotReady),
		containerd.StartContainer.Delete(edit.Stmt(edit.If("c.stopping.Has(sandboxID)"))),

		containerd.SandboxType.AddField(`
// Entry accepts containers into the sandbox until its stop.
Entry *Entry`),
		containerd.NewSandbox.After(edit.Stmt(edit.Define("s")), "s.Entry = NewEntry()"),
		containerd.Stop.After(edit.Stmt(edit.Call("beginStop")), "closeEntry(ctx, &sandbox)"),

		containerd.StartContainer.After(edit.Stmt(edit.If(containerd.NotReady)), `entering := entrant{sandbox: &sandbox}
defer entering.leave() // once the start has returned or is undone
if err := entering.rejected(); err != nil {
	return nil, err
}`),
		containerd.StartContainer.Before(edit.Stmt(edit.Call("task.Start")), `if err := entering.enter(); err != nil {
	return nil, err
}`),
		containerd.StartContainer.After(edit.Stmt(edit.Call("task.Start")), `if err := entering.rejected(); err != nil {
	return nil, err
}`),
		containerd.CreateContainerIn.Before(edit.Stmt(edit.Call("c.containerStore.Add")), `entering := entrant{sandbox: r.sandbox}
defer entering.leave()
if err := entering.enter(); err != nil {
	return "", err
}
`),
		containerd.CreateContainerIn.After(edit.Stmt(edit.Call("c.containerStore.Add")), "entering.leave()"),
		stopContainer.Replace(edit.Expr("c.nri.StopContainer(ctx, nil, &container)"), "c.notifyStopped(ctx, nil, &container)"),
		stopContainer.Replace(edit.Expr("c.nri.StopContainer(ctx, &sandbox, &container)"), "c.notifyStopped(ctx, &sandbox, &container)"),
	},
}
