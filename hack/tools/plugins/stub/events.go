// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/containerd/nri/pkg/api"
)

func (plugin) Synchronize(pods []*api.PodSandbox, _ []*api.Container) ([]*api.ContainerUpdate, error) {
	synchronized(pods)
	return nil, nil
}

func (plugin) RunPodSandbox(pod *api.PodSandbox) error {
	tell("RunPodSandbox", pod)
	return nil
}

func (plugin) StopPodSandbox(pod *api.PodSandbox) error {
	tell("StopPodSandbox", pod)
	return nil
}

func (plugin) RemovePodSandbox(pod *api.PodSandbox) error {
	tell("RemovePodSandbox", pod)
	return nil
}

func (plugin) CreateContainer(pod *api.PodSandbox, _ *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	tell("CreateContainer", pod)
	return adjusted(pod), nil, nil
}

func (plugin) StartContainer(pod *api.PodSandbox, _ *api.Container) error {
	tell("StartContainer", pod)
	return nil
}

func (plugin) UpdateContainer(pod *api.PodSandbox, _ *api.Container) ([]*api.ContainerUpdate, error) {
	tell("UpdateContainer", pod)
	return nil, nil
}

func (plugin) StopContainer(pod *api.PodSandbox, _ *api.Container) ([]*api.ContainerUpdate, error) {
	tell("StopContainer", pod)
	return nil, nil
}

func (plugin) RemoveContainer(pod *api.PodSandbox, _ *api.Container) error {
	tell("RemoveContainer", pod)
	return nil
}
