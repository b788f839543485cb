// SPDX-License-Identifier: Apache-2.0

package events

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

const (
	criEvents  = "internal/cri/server/events.go"
	criHelpers = "internal/cri/server/helpers.go"
)

// EventsAfterTheFact sends CRI's events of an end once, when it is over.
var EventsAfterTheFact = edit.Patch{
	Slug:    "events-after-the-fact",
	Module:  "containerd",
	Subject: "cri: send events of an end once, and after it",
	Body: `The listeners of GetContainerEvents are told that a sandbox is deleted before its
record is, and before it leaves the list. If the removal then fails, they are
told again by the next one, and so they are by two removals at a time. The stop
of a sandbox or container is told after it has returned to its caller: a
removal that follows at once can be told before it, or can leave nothing of
which to tell it. And nobody is told of the removal of a container whose record
was lost.

Make the event of a deletion while the sandbox has a status, and send it once,
when the sandbox is gone. Send that of a stop before whoever waits for the exit
goes on, and have the stop of a sandbox wait for its exit to be seen to: so it
is not ready when the stop returns.

A kubelet that does not listen notices one thing: a stop waits for its event, two
seconds at most. It needs them where the sandbox's controller does not say what it
is, or tells of its exit only with the shutdown. The stop then goes on as before; an
event whose controller did not say it in time has no sandbox status.
containerd's own events, for ctr, moby and nerdctl, do not change.`,
	Refs:   []string{"containerd/containerd#8426"},
	Rules:  []string{"L12"},
	Status: edit.Upstream,
	Until:  "containerd sends the deletion of a sandbox after it left the store, once, and the stop before that",
	Needs:  []string{"containerd/remove-locks-once", "containerd/hidden-until-ready"},
	Edits: []edit.Edit{
		// An event can be made before it is sent.
		edit.In(criHelpers, edit.Method("criService", "generateAndSendContainerEvent")).
			Replace(edit.Stmt(edit.Call("c.containerEventsQ.Send")), "return &event"),
		edit.In(criHelpers, edit.Method("criService", "generateAndSendContainerEvent")).
			Signature("func (c *criService) generateAndSendContainerEvent(ctx context.Context, containerID string, sandboxID string, eventType runtime.ContainerEventType) *runtime.ContainerEventResponse"),
		edit.In(criHelpers, edit.Method("criService", "generateAndSendContainerEvent")).Rename("newContainerEvent"),

		// The deletion.
		containerd.SandboxType.AddField(`
// Deleted is for the event of its deletion, which is sent once.
Deleted *sync.Once`),
		containerd.NewSandbox.After(edit.Stmt(edit.Define("s")), "s.Deleted = &sync.Once{}"),
		containerd.Remove.Replace(edit.Stmt(edit.Call("c.generateAndSendContainerEvent")), `// The sandbox has a status while it is in the store.
deleted := c.newContainerEvent(ctx, id, id, runtime.ContainerEventType_CONTAINER_DELETED_EVENT)`),
		containerd.Remove.After(edit.Stmt(edit.Call("c.sandboxNameIndex.ReleaseByKey")), "c.sendDeleted(&sandbox, deleted)"),
		edit.In(containerd.ContainerRemove, edit.Method("criService", "removeContainer")).After(
			edit.Stmt(edit.Call("c.containerNameIndex.ReleaseByKey")).Within(edit.If("err != nil")),
			"c.generateAndSendContainerEvent(ctx, id, container.SandboxID, runtime.ContainerEventType_CONTAINER_DELETED_EVENT)"),

		// The stop.
		edit.DropImport(criEvents, "k8s.io/cri-api/pkg/apis/runtime/v1"),
		edit.In(criEvents, edit.Method("criService", "handleSandboxExit")).Delete(edit.Stmt(edit.Call("c.generateAndSendContainerEvent"))),
		edit.In(criEvents, edit.Method("criService", "handleSandboxExit")).Before(edit.Stmt(edit.Call("sb.Stop")), "c.sendStopped(ctx, sb.ID, sb.ID)"),
		edit.In(criEvents, edit.Method("criService", "handleContainerExit")).Delete(edit.Stmt(edit.Call("c.generateAndSendContainerEvent"))),
		edit.In(criEvents, edit.Method("criService", "handleContainerExit")).Before(edit.Stmt(edit.Call("cntr.Stop")), "c.sendStopped(ctx, cntr.ID, sandboxID)"),
		containerd.Stop.After(edit.Stmt(edit.All(edit.If("state == sandboxstore.StateReady || state == sandboxstore.StateUnknown"), edit.Has(edit.Call("c.sandboxService.StopSandbox")))), `if state == sandboxstore.StateReady {
	c.awaitStoppedEvent(ctx, sandbox)
}`),
	},
}
