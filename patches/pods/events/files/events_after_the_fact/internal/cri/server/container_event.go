// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/containerd/log"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// stopPatience is how long a stop waits for its event: until the exit is handled and the
// sandbox's controller has reported the status.
const stopPatience = 2 * time.Second

// sendStopped sends the event of an exit, before the callers that wait for the exit go on.
func (c *criService) sendStopped(ctx context.Context, containerID string, sandboxID string) {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	c.generateAndSendContainerEvent(ctx, containerID, sandboxID, runtime.ContainerEventType_CONTAINER_STOPPED_EVENT)
}

// generateAndSendContainerEvent sends the listeners of CRI an event with the current status
// of the sandbox and its containers.
func (c *criService) generateAndSendContainerEvent(ctx context.Context, containerID string, sandboxID string, eventType runtime.ContainerEventType) {
	c.containerEventsQ.Send(c.newContainerEvent(ctx, containerID, sandboxID, eventType))
}

// sendDeleted sends the event of a removed sandbox, which was created while the sandbox had a
// status. Of several removals at the same time, one sends it.
func (c *criService) sendDeleted(sb *sandboxstore.Sandbox, event *runtime.ContainerEventResponse) {
	sb.Deleted.Do(func() {
		event.CreatedAt = time.Now().UnixNano()
		c.containerEventsQ.Send(event)
	})
}

// awaitStoppedEvent returns when the exit of a stopped sandbox is handled: the sandbox is not
// ready, and its event is sent. A controller may report the exit later than that.
func (c *criService) awaitStoppedEvent(ctx context.Context, sb sandboxstore.Sandbox) {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	if err := c.waitSandboxStop(ctx, sb); err != nil {
		log.G(ctx).WithError(err).Warnf("the exit of the stopped sandbox %q is not handled yet", sb.ID)
	}
}
