// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/sandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/eventq"
)

// lookedAt is a sandboxer that notes whether callers knew of the stop of a sandbox when the
// event of it was created.
type lookedAt struct {
	fakeSandboxService
	stopped  <-chan struct{}
	received bool
}

func (l *lookedAt) SandboxStatus(context.Context, string, string, bool) (sandbox.ControllerStatus, error) {
	select {
	case <-l.stopped:
		l.received = true
	default:
	}
	return sandbox.ControllerStatus{State: sandboxstore.StateNotReady.String(), CreatedAt: time.Now()}, nil
}

// withEvents returns a CRI service, the events that it sends, and a sandbox of it.
func withEvents(t *testing.T) (*criService, <-chan *runtime.ContainerEventResponse, sandboxstore.Sandbox) {
	t.Helper()
	c := newTestCRIService()
	c.containerEventsQ = eventq.New(time.Minute, func(*runtime.ContainerEventResponse) {})
	events, closer := c.containerEventsQ.Subscribe()
	t.Cleanup(func() { _ = closer.Close() })
	sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod", Config: &runtime.PodSandboxConfig{
		Linux: &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{
			NamespaceOptions: &runtime.NamespaceOption{Network: runtime.NamespaceMode_NODE},
		}},
	}}, sandboxstore.Status{State: sandboxstore.StateReady})
	require.NoError(t, c.sandboxStore.Add(sb))
	return c, events, sb
}

// A caller that waits for the exit of a sandbox goes on after its event.
func TestStopIsDeliveredBeforeWaitersGoOn(t *testing.T) {
	c, events, sb := withEvents(t)
	service := &lookedAt{stopped: sb.Stopped()}
	c.sandboxService = service
	go func() {
		_ = c.handleSandboxExit(context.Background(), sb, 137, time.Now())
	}()
	event := <-events
	require.Equal(t, runtime.ContainerEventType_CONTAINER_STOPPED_EVENT, event.ContainerEventType)
	require.Equal(t, runtime.PodSandboxState_SANDBOX_NOTREADY, event.PodSandboxStatus.GetState())
	<-sb.Stopped()
	require.False(t, service.received, "the callers that wait for the exit went on before the event was created")
}

// Of several removals at the same time, one sends the deletion of the sandbox.
func TestDeletionIsDeliveredOnce(t *testing.T) {
	c, events, sb := withEvents(t)
	c.sandboxService = &lookedAt{}
	go func() {
		for range 2 {
			again := sb // each removal has a copy from the store
			c.sendDeleted(&again, c.newContainerEvent(context.Background(), sb.ID, sb.ID, runtime.ContainerEventType_CONTAINER_DELETED_EVENT))
		}
		c.generateAndSendContainerEvent(context.Background(), sb.ID, sb.ID, runtime.ContainerEventType_CONTAINER_STOPPED_EVENT)
	}()
	require.Equal(t, runtime.ContainerEventType_CONTAINER_DELETED_EVENT, (<-events).ContainerEventType)
	require.Equal(t, runtime.ContainerEventType_CONTAINER_STOPPED_EVENT, (<-events).ContainerEventType)
}
