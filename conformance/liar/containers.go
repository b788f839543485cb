// SPDX-License-Identifier: Apache-2.0

package liar

import (
	"context"

	"github.com/containerd/nri/pkg/adaptation"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

type containerState int

const (
	created containerState = iota
	running
	exited
)

type container struct {
	id     string
	number int
	pod    *pod
	config *runtime.ContainerConfig
	env    []string
	state  containerState
}

func (c *container) nri() *adaptation.Container {
	return &adaptation.Container{
		Id: c.id, PodSandboxId: c.pod.id, Name: c.config.GetMetadata().GetName(), Env: c.env, Linux: &adaptation.LinuxContainer{},
	}
}

// CreateContainer asks plugins, and applies their adjustments of the environment.
func (r *Runtime) CreateContainer(ctx context.Context, request *runtime.CreateContainerRequest) (*runtime.CreateContainerResponse, error) {
	defer r.nri.BlockPluginSync().Unblock()
	r.mu.Lock()
	p := r.pods[request.GetPodSandboxId()]
	if p == nil || p.state == gone {
		r.mu.Unlock()
		return nil, status.Error(codes.NotFound, "no such pod")
	}
	if p.state == creating && r.lie != CreatesContainerInHook && r.lie != ShowsPodInItsHook {
		r.mu.Unlock()
		return nil, status.Error(codes.FailedPrecondition, "the pod is still being created")
	}
	if p.state == creating { // its plugin is busy, and cannot be asked
		r.mu.Unlock()
		return nil, nil
	}
	if p.state == stopped && r.lie != CreatesContainerInStopped {
		r.mu.Unlock()
		return nil, status.Error(codes.FailedPrecondition, "the pod is stopping")
	}
	c := &container{id: r.id(), number: r.number, pod: p, config: request.GetConfig()}
	r.mu.Unlock()
	answer, err := r.nri.CreateContainer(ctx, &adaptation.CreateContainerRequest{Pod: p.nri(), Container: c.nri()})
	if err != nil {
		return nil, err
	}
	if r.lie != LosesAdjustments {
		for _, env := range answer.GetAdjust().GetEnv() {
			c.env = append(c.env, env.GetKey()+"="+env.GetValue())
		}
	}
	_ = r.nri.PostCreateContainer(ctx, &adaptation.PostCreateContainerRequest{Pod: p.nri(), Container: c.nri()})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.containers[c.id] = c
	r.say(runtime.ContainerEventType_CONTAINER_CREATED_EVENT, c.id, p)
	return &runtime.CreateContainerResponse{ContainerId: c.id}, nil
}

func (r *Runtime) container(id string) *container {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.containers[id]
}

// StartContainer asks plugins.
func (r *Runtime) StartContainer(ctx context.Context, request *runtime.StartContainerRequest) (*runtime.StartContainerResponse, error) {
	defer r.nri.BlockPluginSync().Unblock()
	c := r.container(request.GetContainerId())
	if c == nil {
		return nil, status.Error(codes.NotFound, "no such container")
	}
	start := func() error {
		return r.nri.StartContainer(ctx, &adaptation.StartContainerRequest{Pod: c.pod.nri(), Container: c.nri()})
	}
	if err := start(); err != nil {
		return nil, err
	}
	if r.lie == SendsStartTwice {
		_ = start()
	}
	r.mu.Lock()
	c.state = running
	r.mu.Unlock()
	r.say(runtime.ContainerEventType_CONTAINER_STARTED_EVENT, c.id, c.pod)
	_ = r.nri.PostStartContainer(ctx, &adaptation.PostStartContainerRequest{Pod: c.pod.nri(), Container: c.nri()})
	return &runtime.StartContainerResponse{}, nil
}

// stop ends a container that has not ended.
func (r *Runtime) stop(ctx context.Context, c *container) {
	r.mu.Lock()
	was := c.state
	c.state = exited
	r.mu.Unlock()
	if was != exited {
		if was == running {
			r.say(runtime.ContainerEventType_CONTAINER_STOPPED_EVENT, c.id, c.pod)
		}
		_, _ = r.nri.StopContainer(ctx, &adaptation.StopContainerRequest{Pod: c.pod.nri(), Container: c.nri()})
	}
}

func (r *Runtime) remove(ctx context.Context, c *container) {
	r.stop(ctx, c)
	r.mu.Lock()
	_, there := r.containers[c.id]
	delete(r.containers, c.id)
	r.mu.Unlock()
	if there {
		defer r.say(runtime.ContainerEventType_CONTAINER_DELETED_EVENT, c.id, c.pod)
		_ = r.nri.RemoveContainer(ctx, &adaptation.RemoveContainerRequest{Pod: c.pod.nri(), Container: c.nri()})
	}
}

// StopContainer sends the event to plugins, if the container was started.
func (r *Runtime) StopContainer(ctx context.Context, request *runtime.StopContainerRequest) (*runtime.StopContainerResponse, error) {
	defer r.nri.BlockPluginSync().Unblock()
	c := r.container(request.GetContainerId())
	if c == nil {
		return &runtime.StopContainerResponse{}, nil
	}
	r.mu.Lock()
	started := c.state != created
	r.mu.Unlock()
	if started {
		r.stop(ctx, c)
	}
	return &runtime.StopContainerResponse{}, nil
}

// RemoveContainer stops the container, and sends the event to plugins.
func (r *Runtime) RemoveContainer(ctx context.Context, request *runtime.RemoveContainerRequest) (*runtime.RemoveContainerResponse, error) {
	defer r.nri.BlockPluginSync().Unblock()
	if c := r.container(request.GetContainerId()); c != nil {
		r.remove(ctx, c)
	}
	return &runtime.RemoveContainerResponse{}, nil
}

// ListContainers lists all.
func (r *Runtime) ListContainers(context.Context, *runtime.ListContainersRequest) (*runtime.ListContainersResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := &runtime.ListContainersResponse{}
	for _, c := range r.containers {
		list.Containers = append(list.Containers, &runtime.Container{Id: c.id, PodSandboxId: c.pod.id, Metadata: c.config.GetMetadata(), State: c.cri()})
	}
	return list, nil
}

func (c *container) cri() runtime.ContainerState {
	return [...]runtime.ContainerState{runtime.ContainerState_CONTAINER_CREATED, runtime.ContainerState_CONTAINER_RUNNING, runtime.ContainerState_CONTAINER_EXITED}[c.state]
}

// ContainerStatus has only the state.
func (r *Runtime) ContainerStatus(_ context.Context, request *runtime.ContainerStatusRequest) (*runtime.ContainerStatusResponse, error) {
	c := r.container(request.GetContainerId())
	if c == nil {
		return nil, status.Error(codes.NotFound, "no such container")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return &runtime.ContainerStatusResponse{Status: &runtime.ContainerStatus{Id: c.id, Metadata: c.config.GetMetadata(), State: c.cri()}}, nil
}
