// SPDX-License-Identifier: Apache-2.0

//go:build !without_contexts

package main

import (
	"context"

	"github.com/containerd/nri/pkg/api"
)

func (plugin) Synchronize(_ context.Context, pods []*api.PodSandbox, _ []*api.Container) ([]*api.ContainerUpdate, error) {
	synchronized(pods)
	return nil, nil
}

func (plugin) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	tell("RunPodSandbox", pod, nil)
	return nil
}

func (plugin) StopPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	tell("StopPodSandbox", pod, nil)
	return nil
}

func (plugin) RemovePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	tell("RemovePodSandbox", pod, nil)
	return nil
}

func (plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	tell("CreateContainer", pod, container)
	return adjusted(pod), nil, nil
}

func (plugin) StartContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) error {
	tell("StartContainer", pod, container)
	return nil
}

func (plugin) UpdateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container, _ *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	tell("UpdateContainer", pod, container)
	return nil, nil
}

func (plugin) StopContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) ([]*api.ContainerUpdate, error) {
	tell("StopContainer", pod, container)
	return nil, nil
}

func (plugin) RemoveContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) error {
	tell("RemoveContainer", pod, container)
	return nil
}
