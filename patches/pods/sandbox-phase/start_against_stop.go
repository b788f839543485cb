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
	Body: `StopPodSandbox lists the containers of a sandbox once and stops those that run. A
container that is stored or started after that is missed: it goes on running in
a sandbox whose network is gone. The sandbox only rejects it once its own
process has ended, which is after NRI plugins have had StopPodSandbox, and may
take them a while.

Store and start a container inside of an entry of its sandbox, which the stop
closes before it lists the containers. What comes later is rejected. The stop
waits until those inside have left, but for no longer than ten seconds: a start
that hangs does not keep the sandbox from being stopped, and is undone when it
goes on. The entry takes the place of the list of sandboxes that are being stopped.

Do not tell plugins that a container has stopped that was not started. It can
still be started, but they would reject to take part.

The kubelet starts no containers in a pod that it stops. It gets
FailedPrecondition if another client, such as crictl, stops the pod. Its own
stop takes up to ten seconds longer if a start hangs. Tasks that ctr, moby or
nerdctl start do not pass here.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#8426"},
	Rules:  []string{"L1", "L10", "L11"},
	Status: edit.Upstream,
	Until:  "containerd rejects to create and start containers in a sandbox from the moment that its stop lists them",
	Needs:  []string{"containerd/sandbox-phase"},
	Edits: []edit.Edit{
		// The entry takes the place of the list of sandboxes that are being stopped.
		containerd.ServiceType.Delete(edit.Field("stopping")),
		edit.DropFile("internal/cri/store/sandbox/stopping.go"),
		edit.DropFile("internal/cri/store/sandbox/stopping_test.go"),
		containerd.Stop.Delete(edit.Stmt(edit.Call("c.stopping.Begin"))),
		containerd.CreateContainer.Replace(edit.Expr(containerd.NotReadyOrStopping), containerd.NotReady),
		containerd.StartContainer.Replace(edit.Expr(containerd.NotReadyOrStopping), containerd.NotReady),
		containerd.StartContainer.Delete(edit.Stmt(edit.If("c.stopping.Has(sandboxID)"))),

		containerd.SandboxType.AddField(`
// Entry is where containers come into the sandbox.
Entry *Entry`),
		containerd.NewSandbox.After(edit.Stmt(edit.Define("s")), "s.Entry = NewEntry()"),
		containerd.Stop.After(edit.Stmt(edit.Call("beginStop")), "closeEntry(ctx, &sandbox)"),

		containerd.StartContainer.After(edit.Stmt(edit.If(containerd.NotReady)), `entering := entrant{sandbox: &sandbox}
defer entering.leave() // when the start is over, or undone
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
		stopContainer.Replace(edit.Expr("c.nri.StopContainer(ctx, nil, &container)"), "c.tellStopped(ctx, nil, &container)"),
		stopContainer.Replace(edit.Expr("c.nri.StopContainer(ctx, &sandbox, &container)"), "c.tellStopped(ctx, &sandbox, &container)"),
	},
}
