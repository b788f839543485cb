// SPDX-License-Identifier: Apache-2.0

//go:build without_contexts

package main

import (
	"github.com/containerd/nri/pkg/api"
)

func (plugin) Synchronize(pods []*api.PodSandbox, _ []*api.Container) ([]*api.ContainerUpdate, error) {
	synchronized(pods)
	return nil, nil
}

func (plugin) RunPodSandbox(pod *api.PodSandbox) error {
	tell("RunPodSandbox", pod, nil)
	return nil
}

func (plugin) StopPodSandbox(pod *api.PodSandbox) error {
	tell("StopPodSandbox", pod, nil)
	return nil
}

func (plugin) RemovePodSandbox(pod *api.PodSandbox) error {
	tell("RemovePodSandbox", pod, nil)
	return nil
}

func (plugin) CreateContainer(pod *api.PodSandbox, container *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	tell("CreateContainer", pod, container)
	return adjusted(pod), nil, nil
}

func (plugin) StartContainer(pod *api.PodSandbox, container *api.Container) error {
	tell("StartContainer", pod, container)
	return nil
}

func (plugin) UpdateContainer(pod *api.PodSandbox, container *api.Container) ([]*api.ContainerUpdate, error) {
	tell("UpdateContainer", pod, container)
	return nil, nil
}

func (plugin) StopContainer(pod *api.PodSandbox, container *api.Container) ([]*api.ContainerUpdate, error) {
	tell("StopContainer", pod, container)
	return nil, nil
}

func (plugin) RemoveContainer(pod *api.PodSandbox, container *api.Container) error {
	tell("RemoveContainer", pod, container)
	return nil
}
