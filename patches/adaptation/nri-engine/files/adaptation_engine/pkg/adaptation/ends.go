// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// teardown delivers the end of a pod or container. Replies go into result, unless it
// is nil, in the order of the plugins' indices.
func (r *Adaptation) teardown(ctx context.Context, ev lifecycle.Event, result *result) error {
	var errs []error
	var collect func(lifecycle.Connection, lifecycle.Event, any)
	if result != nil {
		collect = func(c lifecycle.Connection, _ lifecycle.Event, reply any) {
			errs = append(errs, result.collect(c, reply))
		}
	}
	err := r.engine.Teardown(ctx, []lifecycle.Event{ev}, collect)
	return errors.Join(append(errs, err)...)
}

// impliedEnd makes the request of an end that the runtime did not send: that of a
// container that ends with its pod, or a Stop before a Remove.
func impliedEnd(kind lifecycle.Kind, container string, of lifecycle.Event) any {
	pod, ctr := subject(of)
	return endRequest(lifecycle.Event{Kind: kind, Pod: of.Pod, Container: container}, pod, ctr)
}

// endRequest makes the request for the end of a pod or a container.
func endRequest(ev lifecycle.Event, pod *PodSandbox, ctr *Container) proto.Message {
	if ctr.GetId() != ev.Container {
		ctr = &Container{Id: ev.Container, PodSandboxId: ev.Pod}
	}
	switch ev.Kind {
	case lifecycle.StopPodSandbox:
		return &StopPodSandboxRequest{Pod: pod}
	case lifecycle.RemovePodSandbox:
		return &RemovePodSandboxRequest{Pod: pod}
	case lifecycle.StopContainer:
		return &StopContainerRequest{Pod: pod, Container: ctr}
	case lifecycle.RemoveContainer:
		return &RemoveContainerRequest{Pod: pod, Container: ctr}
	}
	return nil
}

// subject returns the pod and container of an end or of a creation, or those that the runtime
// has listed.
func subject(ev lifecycle.Event) (*PodSandbox, *Container) {
	switch listed := ev.Request.(type) {
	case *PodSandbox:
		return listed, nil
	case *Container:
		return &PodSandbox{Id: ev.Pod}, listed
	}
	req, ok := wire(ev).(interface{ GetPod() *PodSandbox })
	if !ok {
		return &PodSandbox{Id: ev.Pod}, nil
	}
	ctr, ok := req.(interface{ GetContainer() *Container })
	if !ok {
		return req.GetPod(), nil
	}
	return req.GetPod(), ctr.GetContainer()
}
