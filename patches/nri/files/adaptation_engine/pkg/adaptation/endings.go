// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"sync"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// end tells of the end of a pod or container. Replies go into result, if there
// is one, in the order of the plugins' indices.
func (r *Adaptation) end(ctx context.Context, ev lifecycle.Event, result *result) error {
	var errs []error
	var collect func(lifecycle.Connection, lifecycle.Event, any)
	if result != nil {
		collect = func(c lifecycle.Connection, _ lifecycle.Event, reply any) {
			errs = append(errs, result.collect(c, reply))
		}
	}
	err := r.engine.Teardown(ctx, []lifecycle.Event{ev}, collect)
	if ev.Kind == lifecycle.RemovePodSandbox || ev.Kind == lifecycle.RemoveContainer {
		if gone, ok := r.removed.add(ev); ok {
			r.engine.Gone([]lifecycle.Event{gone})
		}
	}
	return errors.Join(append(errs, err)...)
}

// owed makes the request of an end that the runtime did not hand in: that of a
// container that goes with its pod, or a Stop before a Remove.
func owed(kind lifecycle.Kind, container string, of lifecycle.Event) any {
	pod, ctr := subject(of)
	if ctr.GetId() != container {
		ctr = &Container{Id: container, PodSandboxId: of.Pod}
	}
	switch kind {
	case lifecycle.StopPodSandbox:
		return &StopPodSandboxRequest{Pod: pod}
	case lifecycle.StopContainer:
		return &StopContainerRequest{Pod: pod, Container: ctr}
	case lifecycle.RemoveContainer:
		return &RemoveContainerRequest{Pod: pod, Container: ctr}
	}
	return nil
}

// subject returns the pod and container of an end or of a creation.
func subject(ev lifecycle.Event) (*PodSandbox, *Container) {
	switch req := ev.Request.(type) {
	case *creation:
		return req.request.GetPod(), req.request.GetContainer()
	case interface{ GetPod() *PodSandbox }:
		ctr, ok := req.(interface{ GetContainer() *Container })
		if !ok {
			return req.GetPod(), nil
		}
		return req.GetPod(), ctr.GetContainer()
	}
	return &PodSandbox{Id: ev.Pod}, nil
}

// keep is for how many later removals the engine remembers that an object was
// removed, for plugins that join while the runtime may still list it. The
// runtime drops it from its lists within one request, of which far fewer are
// under way at a time.
const keep = 1024

// removals are the last objects that were removed.
type removals struct {
	mu   sync.Mutex // guards what follows
	ring [keep]lifecycle.Event
	next int
}

// add returns the object that is now long gone, if there is one.
func (l *removals) add(ev lifecycle.Event) (gone lifecycle.Event, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	gone = l.ring[l.next]
	l.ring[l.next] = lifecycle.Event{Kind: ev.Kind, Pod: ev.Pod, Container: ev.Container}
	l.next = (l.next + 1) % keep
	return gone, gone.Kind != 0
}
