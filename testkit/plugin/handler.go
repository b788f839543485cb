// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"sync"

	"github.com/containerd/nri/pkg/api"
)

// handler serves NRI's stub for one connection of a plugin.
type handler struct {
	plugin       *Plugin
	number       int
	synchronized chan struct{}
	syncOnce     sync.Once
	closed       chan struct{}
	closeOnce    sync.Once
}

// close is called by the stub, possibly more than once.
func (h *handler) close() { h.closeOnce.Do(func() { close(h.closed) }) }

// answer makes the plugin answer a call of this connection.
func (h *handler) answer(ctx context.Context, call *Call) error {
	call.Connection = h.number
	return h.plugin.answer(ctx, call)
}

func (h *handler) Configure(ctx context.Context, _, _, _ string) (api.EventMask, error) {
	if err := h.answer(ctx, &Call{Event: Configure}); err != nil {
		return 0, err
	}
	return h.plugin.mask()
}

// mask returns the subscription in NRI's form.
func (p *Plugin) mask() (api.EventMask, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.events) == 0 {
		return api.ValidEvents &^ (1 << (api.Event_VALIDATE_CONTAINER_ADJUSTMENT - 1)), nil
	}
	var mask api.EventMask
	for _, event := range p.events {
		bits, err := api.ParseEventMask(string(event))
		if err != nil {
			return 0, fmt.Errorf("subscribe to %s: %w", event, err)
		}
		mask |= bits
	}
	return mask, nil
}

func (h *handler) Synchronize(ctx context.Context, pods []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	call := &Call{Event: Synchronize, Pods: pods, Containers: containers}
	if err := h.answer(ctx, call); err != nil {
		return nil, err
	}
	h.syncOnce.Do(func() { close(h.synchronized) })
	return call.Update, nil
}

func (h *handler) pod(ctx context.Context, event Event, pod *api.PodSandbox) error {
	return h.answer(ctx, &Call{Event: event, Pod: pod})
}

func (h *handler) container(ctx context.Context, event Event, pod *api.PodSandbox, container *api.Container) error {
	return h.answer(ctx, &Call{Event: event, Pod: pod, Container: container})
}

func (h *handler) RunPodSandbox(ctx context.Context, pod *api.PodSandbox) error {
	return h.pod(ctx, RunPodSandbox, pod)
}

func (h *handler) UpdatePodSandbox(ctx context.Context, pod *api.PodSandbox, overhead, resources *api.LinuxResources) error {
	return h.answer(ctx, &Call{Event: UpdatePodSandbox, Pod: pod, Overhead: overhead, Resources: resources})
}

func (h *handler) PostUpdatePodSandbox(ctx context.Context, pod *api.PodSandbox) error {
	return h.pod(ctx, PostUpdatePodSandbox, pod)
}

func (h *handler) StopPodSandbox(ctx context.Context, pod *api.PodSandbox) error {
	return h.pod(ctx, StopPodSandbox, pod)
}

func (h *handler) RemovePodSandbox(ctx context.Context, pod *api.PodSandbox) error {
	return h.pod(ctx, RemovePodSandbox, pod)
}

func (h *handler) CreateContainer(ctx context.Context, pod *api.PodSandbox, container *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	call := &Call{Event: CreateContainer, Pod: pod, Container: container}
	err := h.answer(ctx, call)
	return call.Adjust, call.Update, err
}

func (h *handler) ValidateContainerAdjustment(ctx context.Context, req *api.ValidateContainerAdjustmentRequest) error {
	return h.answer(ctx, &Call{Event: ValidateContainerAdjustment, Pod: req.GetPod(), Container: req.GetContainer(), Proposed: req})
}

func (h *handler) PostCreateContainer(ctx context.Context, pod *api.PodSandbox, container *api.Container) error {
	return h.container(ctx, PostCreateContainer, pod, container)
}

func (h *handler) StartContainer(ctx context.Context, pod *api.PodSandbox, container *api.Container) error {
	return h.container(ctx, StartContainer, pod, container)
}

func (h *handler) PostStartContainer(ctx context.Context, pod *api.PodSandbox, container *api.Container) error {
	return h.container(ctx, PostStartContainer, pod, container)
}

func (h *handler) UpdateContainer(ctx context.Context, pod *api.PodSandbox, container *api.Container, resources *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	call := &Call{Event: UpdateContainer, Pod: pod, Container: container, Resources: resources}
	err := h.answer(ctx, call)
	return call.Update, err
}

func (h *handler) PostUpdateContainer(ctx context.Context, pod *api.PodSandbox, container *api.Container) error {
	return h.container(ctx, PostUpdateContainer, pod, container)
}

func (h *handler) StopContainer(ctx context.Context, pod *api.PodSandbox, container *api.Container) ([]*api.ContainerUpdate, error) {
	call := &Call{Event: StopContainer, Pod: pod, Container: container}
	err := h.answer(ctx, call)
	return call.Update, err
}

func (h *handler) RemoveContainer(ctx context.Context, pod *api.PodSandbox, container *api.Container) error {
	return h.container(ctx, RemoveContainer, pod, container)
}

// silent drops the stub's log: the record has all events.
type silent struct{}

func (silent) Debugf(context.Context, string, ...any) {}
func (silent) Infof(context.Context, string, ...any)  {}
func (silent) Warnf(context.Context, string, ...any)  {}
func (silent) Errorf(context.Context, string, ...any) {}
