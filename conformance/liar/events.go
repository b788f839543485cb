// SPDX-License-Identifier: Apache-2.0

package liar

import (
	"sync"

	"google.golang.org/grpc"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// listeners are the listeners of CRI's container events.
type listeners struct {
	mu  sync.Mutex // guards all
	all map[chan *runtime.ContainerEventResponse]bool
}

// GetContainerEvents sends events until the caller cancels.
func (r *Runtime) GetContainerEvents(_ *runtime.GetEventsRequest, stream grpc.ServerStreamingServer[runtime.ContainerEventResponse]) error {
	events := make(chan *runtime.ContainerEventResponse, 1000)
	r.listeners.mu.Lock()
	r.listeners.all[events] = true
	r.listeners.mu.Unlock()
	defer func() {
		r.listeners.mu.Lock()
		defer r.listeners.mu.Unlock()
		delete(r.listeners.all, events)
	}()
	for {
		select {
		case event := <-events:
			if err := stream.Send(event); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

// say sends an event of a pod or one of its containers.
func (r *Runtime) say(what runtime.ContainerEventType, id string, p *pod) {
	if r.lie == SendsNoStops && what == runtime.ContainerEventType_CONTAINER_STOPPED_EVENT {
		return
	}
	event := &runtime.ContainerEventResponse{ContainerId: id, ContainerEventType: what, PodSandboxStatus: &runtime.PodSandboxStatus{
		Id: p.id, Metadata: p.config.GetMetadata(), State: runtime.PodSandboxState_SANDBOX_NOTREADY,
	}}
	r.listeners.mu.Lock()
	defer r.listeners.mu.Unlock()
	for listener := range r.listeners.all {
		listener <- event
	}
}
