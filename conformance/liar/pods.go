// SPDX-License-Identifier: Apache-2.0

package liar

import (
	"context"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

type podState int

const (
	creating podState = iota
	ready
	stopped
	gone
)

type pod struct {
	id     string
	config *runtime.PodSandboxConfig
	state  podState
	ending sync.Mutex // held while plugins receive its end
}

func (p *pod) nri() *adaptation.PodSandbox {
	m := p.config.GetMetadata()
	return &adaptation.PodSandbox{
		Id: p.id, Name: m.GetName(), Namespace: m.GetNamespace(), Uid: m.GetUid(),
		Labels: p.config.GetLabels(), Annotations: p.config.GetAnnotations(), Linux: &adaptation.LinuxPodSandbox{},
	}
}

// RunPodSandbox sets up no resources: it only sends the event to plugins.
func (r *Runtime) RunPodSandbox(ctx context.Context, request *runtime.RunPodSandboxRequest) (*runtime.RunPodSandboxResponse, error) {
	defer r.nri.BlockPluginSync().Unblock()
	own := request.GetConfig().GetLinux().GetSecurityContext().GetNamespaceOptions().GetNetwork() != runtime.NamespaceMode_NODE
	if err := r.network(ctx); err != nil && own && r.lie != TakesPodsWithoutNetwork {
		return nil, status.Errorf(codes.Unavailable, "the pod needs the network: %v", err)
	}
	r.mu.Lock()
	p := &pod{id: r.id(), config: request.GetConfig()}
	r.pods[p.id] = p
	r.mu.Unlock()
	if err := r.nri.RunPodSandbox(ctx, &adaptation.RunPodSandboxRequest{Pod: p.nri()}); err != nil {
		undo := context.WithoutCancel(ctx)
		_ = r.nri.StopPodSandbox(undo, &adaptation.StopPodSandboxRequest{Pod: p.nri()})
		_ = r.nri.RemovePodSandbox(undo, &adaptation.RemovePodSandboxRequest{Pod: p.nri()})
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.pods, p.id)
		return nil, err
	}
	r.set(p, ready)
	r.say(runtime.ContainerEventType_CONTAINER_CREATED_EVENT, p.id, p)
	r.say(runtime.ContainerEventType_CONTAINER_STARTED_EVENT, p.id, p)
	return &runtime.RunPodSandboxResponse{PodSandboxId: p.id}, nil
}

// set sets the state of a pod, and returns the previous one.
func (r *Runtime) set(p *pod, s podState) podState {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := p.state
	p.state = s
	return before
}

// find returns a pod that is shown, or nil.
func (r *Runtime) find(id string) *pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.pods[id]; p != nil && r.shown(p) {
		return p
	}
	return nil
}

// shown needs r.mu.
func (r *Runtime) shown(p *pod) bool {
	return p.state != gone && (p.state != creating || r.lie == ShowsPodInItsHook)
}

// StopPodSandbox stops a pod and its containers.
func (r *Runtime) StopPodSandbox(ctx context.Context, request *runtime.StopPodSandboxRequest) (*runtime.StopPodSandboxResponse, error) {
	defer r.nri.BlockPluginSync().Unblock()
	p := r.find(request.GetPodSandboxId())
	if p == nil {
		return &runtime.StopPodSandboxResponse{}, nil
	}
	p.ending.Lock()
	defer p.ending.Unlock()
	if r.find(p.id) == nil { // it was removed meanwhile
		return &runtime.StopPodSandboxResponse{}, nil
	}
	return &runtime.StopPodSandboxResponse{}, r.stopPod(ctx, p)
}

func (r *Runtime) stopPod(ctx context.Context, p *pod) error {
	before := r.set(p, stopped)
	if r.slowness != nil && before != stopped {
		select {
		case <-time.After(r.slowness(p.config.GetMetadata().GetName())):
		case <-ctx.Done():
		}
	}
	containers := func() {
		for _, c := range r.of(p.id) {
			r.stop(ctx, c)
		}
	}
	if r.lie != StopsPodBeforeContainers {
		containers()
	}
	if before != stopped {
		defer r.say(runtime.ContainerEventType_CONTAINER_STOPPED_EVENT, p.id, p)
	}
	if before != stopped || r.lie == SendsEveryStop {
		err := r.nri.StopPodSandbox(ctx, &adaptation.StopPodSandboxRequest{Pod: p.nri()})
		if err != nil && r.lie == FailsStopIfAPluginFails {
			return err
		}
	}
	if r.lie == StopsPodBeforeContainers {
		containers()
	}
	return nil
}

// RemovePodSandbox stops and removes a pod and its containers.
func (r *Runtime) RemovePodSandbox(ctx context.Context, request *runtime.RemovePodSandboxRequest) (*runtime.RemovePodSandboxResponse, error) {
	defer r.nri.BlockPluginSync().Unblock()
	done := &runtime.RemovePodSandboxResponse{}
	p := r.find(request.GetPodSandboxId())
	if p == nil {
		return done, nil
	}
	p.ending.Lock()
	defer p.ending.Unlock()
	if r.find(p.id) == nil {
		return done, nil
	}
	if r.set(p, stopped) != stopped {
		r.set(p, ready)
		if err := r.stopPod(ctx, p); err != nil {
			return nil, err
		}
	}
	for _, c := range r.of(p.id) {
		if r.lie != LeavesContainers {
			r.remove(ctx, c)
		}
	}
	if r.set(p, gone) == gone {
		return done, nil
	}
	if r.lie != SendsNoRemoval {
		_ = r.nri.RemovePodSandbox(ctx, &adaptation.RemovePodSandboxRequest{Pod: p.nri()})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pods, p.id)
	r.say(runtime.ContainerEventType_CONTAINER_DELETED_EVENT, p.id, p)
	return done, nil
}

// ListPodSandbox lists the pods that are shown.
func (r *Runtime) ListPodSandbox(context.Context, *runtime.ListPodSandboxRequest) (*runtime.ListPodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := &runtime.ListPodSandboxResponse{}
	for _, p := range r.pods {
		if r.shown(p) {
			list.Items = append(list.Items, &runtime.PodSandbox{Id: p.id, Metadata: p.config.GetMetadata(), State: p.cri()})
		}
	}
	return list, nil
}

func (p *pod) cri() runtime.PodSandboxState {
	if p.state == ready {
		return runtime.PodSandboxState_SANDBOX_READY
	}
	return runtime.PodSandboxState_SANDBOX_NOTREADY
}

// PodSandboxStatus returns the status of a pod that is shown.
func (r *Runtime) PodSandboxStatus(_ context.Context, request *runtime.PodSandboxStatusRequest) (*runtime.PodSandboxStatusResponse, error) {
	p := r.find(request.GetPodSandboxId())
	if p == nil {
		return nil, status.Error(codes.NotFound, "no such pod")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return &runtime.PodSandboxStatusResponse{Status: &runtime.PodSandboxStatus{Id: p.id, Metadata: p.config.GetMetadata(), State: p.cri(), CreatedAt: time.Now().UnixNano()}}, nil
}

// PodSandboxStats returns the statistics of a pod that is shown.
func (r *Runtime) PodSandboxStats(_ context.Context, request *runtime.PodSandboxStatsRequest) (*runtime.PodSandboxStatsResponse, error) {
	p := r.find(request.GetPodSandboxId())
	if p == nil {
		return nil, status.Error(codes.NotFound, "no such pod")
	}
	return &runtime.PodSandboxStatsResponse{Stats: &runtime.PodSandboxStats{Attributes: &runtime.PodSandboxAttributes{Id: p.id}}}, nil
}

// ListPodSandboxStats lists the pods that are shown.
func (r *Runtime) ListPodSandboxStats(context.Context, *runtime.ListPodSandboxStatsRequest) (*runtime.ListPodSandboxStatsResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := &runtime.ListPodSandboxStatsResponse{}
	for _, p := range r.pods {
		if r.shown(p) {
			list.Stats = append(list.Stats, &runtime.PodSandboxStats{Attributes: &runtime.PodSandboxAttributes{Id: p.id}})
		}
	}
	return list, nil
}
