// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// RunPodSandbox asks the plugins for a new pod, in the order of their indices.
// The first rejection fails the request. The runtime then sends StopPodSandbox and
// RemovePodSandbox to the plugins that were asked.
func (r *Adaptation) RunPodSandbox(ctx context.Context, req *RunPodSandboxRequest) error {
	return r.ask(ctx, podEvent(lifecycle.RunPodSandbox, req.GetPod(), req), nil)
}

// UpdatePodSandbox asks the plugins for an update of a pod's resources.
func (r *Adaptation) UpdatePodSandbox(ctx context.Context, req *UpdatePodSandboxRequest) (*UpdatePodSandboxResponse, error) {
	if err := r.ask(ctx, podEvent(lifecycle.UpdatePodSandbox, req.GetPod(), req), nil); err != nil {
		return nil, err
	}
	return &UpdatePodSandboxResponse{}, nil
}

// PostUpdatePodSandbox notifies the plugins that a pod's resources were updated.
func (r *Adaptation) PostUpdatePodSandbox(ctx context.Context, req *PostUpdatePodSandboxRequest) error {
	return r.ask(ctx, podEvent(lifecycle.PostUpdatePodSandbox, req.GetPod(), req), nil)
}

// StopPodSandbox notifies all plugins that know a pod that its containers have
// stopped, and waits for all of them no longer than for one. The error names plugins
// that rejected and, if their policy says so, plugins that did not answer. The pod is
// stopped in any case.
func (r *Adaptation) StopPodSandbox(ctx context.Context, req *StopPodSandboxRequest) error {
	return r.teardown(ctx, podEvent(lifecycle.StopPodSandbox, req.GetPod(), req), nil)
}

// RemovePodSandbox notifies all plugins that know a pod that it is gone. The error is
// as for StopPodSandbox. The pod is removed in any case.
func (r *Adaptation) RemovePodSandbox(ctx context.Context, req *RemovePodSandboxRequest) error {
	return r.teardown(ctx, podEvent(lifecycle.RemovePodSandbox, req.GetPod(), req), nil)
}

// PostCreateContainer notifies the plugins that a container was created.
func (r *Adaptation) PostCreateContainer(ctx context.Context, req *PostCreateContainerRequest) error {
	return r.ask(ctx, containerEvent(lifecycle.PostCreateContainer, req.GetPod(), req.GetContainer(), req), nil)
}

// StartContainer asks the plugins for the start of a container.
func (r *Adaptation) StartContainer(ctx context.Context, req *StartContainerRequest) error {
	return r.ask(ctx, containerEvent(lifecycle.StartContainer, req.GetPod(), req.GetContainer(), req), nil)
}

// PostStartContainer notifies the plugins that a container was started.
func (r *Adaptation) PostStartContainer(ctx context.Context, req *PostStartContainerRequest) error {
	return r.ask(ctx, containerEvent(lifecycle.PostStartContainer, req.GetPod(), req.GetContainer(), req), nil)
}

// UpdateContainer asks the plugins for an update of a container's resources, each
// with the adjustments of those before it.
func (r *Adaptation) UpdateContainer(ctx context.Context, req *UpdateContainerRequest) (*UpdateContainerResponse, error) {
	c := &changedContainer{request: req, result: collectUpdateContainerResult(req)}
	err := r.ask(ctx, containerEvent(lifecycle.UpdateContainer, req.GetPod(), req.GetContainer(), c), c.collect)
	c.settle(ctx, err == nil)
	if err != nil {
		return nil, err
	}
	if r.ordered {
		c.result.reply.update = nil // applied
	}
	return c.result.updateContainerResponse(), nil
}

// PostUpdateContainer notifies the plugins that a container's resources were
// updated.
func (r *Adaptation) PostUpdateContainer(ctx context.Context, req *PostUpdateContainerRequest) error {
	return r.ask(ctx, containerEvent(lifecycle.PostUpdateContainer, req.GetPod(), req.GetContainer(), req), nil)
}

// StopContainer notifies all plugins that know a container that it has stopped, and
// waits for all of them no longer than for one. The response holds the updates of
// the plugins that answered, also if there is an error of others. With
// WithOrderedUpdates it is empty.
func (r *Adaptation) StopContainer(ctx context.Context, req *StopContainerRequest) (*StopContainerResponse, error) {
	result := collectStopContainerResult()
	ev := containerEvent(lifecycle.StopContainer, req.GetPod(), req.GetContainer(), req)
	if r.ordered {
		return result.stopContainerResponse(), r.teardown(ctx, ev, nil)
	}
	err := r.teardown(ctx, ev, result)
	return result.stopContainerResponse(), err
}

// RemoveContainer notifies all plugins that know a container that it is gone. The
// error is as for StopPodSandbox. The container is removed in any case.
func (r *Adaptation) RemoveContainer(ctx context.Context, req *RemoveContainerRequest) error {
	return r.teardown(ctx, containerEvent(lifecycle.RemoveContainer, req.GetPod(), req.GetContainer(), req), nil)
}

func podEvent(kind lifecycle.Kind, pod *PodSandbox, req any) lifecycle.Event {
	return lifecycle.Event{Kind: kind, Pod: pod.GetId(), Request: req}
}

func containerEvent(kind lifecycle.Kind, pod *PodSandbox, ctr *Container, req any) lifecycle.Event {
	id := pod.GetId()
	if id == "" {
		id = ctr.GetPodSandboxId()
	}
	return lifecycle.Event{Kind: kind, Pod: id, Container: ctr.GetId(), Request: req}
}

// collect applies the reply of one plugin on top of those before it.
func (r *result) collect(c lifecycle.Connection, reply any) error {
	if reply == nil {
		return nil
	}
	return r.apply(reply, c.Name())
}
