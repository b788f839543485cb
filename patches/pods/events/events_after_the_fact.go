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

// EventsAfterTheFact sends CRI's event of a stop or deletion once, after the fact.
var EventsAfterTheFact = edit.Patch{
	Slug:    "events-after-the-fact",
	Module:  "containerd",
	Subject: "cri: send the events of stops and deletions once, after the fact",
	Body: `Listeners of GetContainerEvents receive the deletion of a sandbox before
its record is deleted and before it leaves the list. If the removal then
fails, they receive the deletion again with the next removal, and also
with two removals at a time. The stop of a sandbox or container is sent
after the call has returned. A removal that follows at once can be sent
before the stop, or can leave nothing to send it about. The removal of a
container whose record was lost is never sent.

Create the event of a deletion while the sandbox has a status, and send
it once, when the sandbox is gone. Send the event of a stop before the
callers that wait for the exit go on. Let the stop of a sandbox wait
until its exit is handled, so that the sandbox is not ready when the
stop returns.

A kubelet that does not listen notices one change: a stop waits for its
event, for two seconds at most. It waits that long if the sandbox's
controller does not report a status, or reports the exit only with the
shutdown. The stop then continues as before, and an event without a
status from the controller is sent without a sandbox status.
containerd's own events, for ctr, moby and nerdctl, do not change.`,
	Refs:   []string{"containerd/containerd#8426"},
	Rules:  []string{"L12"},
	Status: edit.Upstream,
	Until:  "containerd sends the deletion of a sandbox once, after the sandbox left the store, and its stop before that",
	Needs:  []string{"containerd/remove-locks-once", "containerd/hidden-until-ready"},
	Edits: []edit.Edit{
		// An event can be created before it is sent.
		edit.In(criHelpers, edit.Method("criService", "generateAndSendContainerEvent")).
			Replace(edit.Stmt(edit.Call("c.containerEventsQ.Send")), "return &event"),
		edit.In(criHelpers, edit.Method("criService", "generateAndSendContainerEvent")).
			Signature("func (c *criService) generateAndSendContainerEvent(ctx context.Context, containerID string, sandboxID string, eventType runtime.ContainerEventType) *runtime.ContainerEventResponse"),
		edit.In(criHelpers, edit.Method("criService", "generateAndSendContainerEvent")).Rename("newContainerEvent"),

		// The deletion.
		containerd.SandboxType.AddField(`
// Deleted has the event of its deletion sent once.
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
