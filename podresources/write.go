// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	kep "github.com/hookline-nri/hookline/podresources/internal/cri/podresources"
)

// SetPod announces the resources of a new pod's containers. It is for clients of a runtime: it uses
// field 10 of CRI's PodSandboxConfig, which CRI itself does not have yet. A runtime that does not
// know the field ignores it. SetPod returns an error for resources that a runtime would ignore, such
// as a negative quantity or a name of two containers, and for a container without a type.
func SetPod(config *cri.PodSandboxConfig, pod Pod) error {
	resources, err := pod.message()
	if err != nil {
		return err
	}
	return kep.Set(config, resources)
}

// SetContainer announces the resources of a new container, in the provisional field 1018 of CRI's
// ContainerConfig. It returns an error for resources that a runtime would ignore.
func SetContainer(config *cri.ContainerConfig, resources Requirements) error {
	return kep.SetContainer(config, resources.message())
}

// SetContainerUpdate announces the new resources of a container with an update, in field 5 of CRI's
// UpdateContainerResourcesRequest. It returns an error for resources that a runtime would ignore.
func SetContainerUpdate(request *cri.UpdateContainerResourcesRequest, resources Requirements) error {
	return kep.SetUpdate(request, resources.message())
}

// SetPodUpdate announces the new resources of all containers of a pod with an update, in field 4 of
// CRI's UpdatePodSandboxResourcesRequest. It returns an error for resources that a runtime would
// ignore.
func SetPodUpdate(request *cri.UpdatePodSandboxResourcesRequest, pod Pod) error {
	resources, err := pod.message()
	if err != nil {
		return err
	}
	return kep.SetPodUpdate(request, resources)
}

// Annotation returns key and value of a pod's annotation that announces resources. It is for
// admission webhooks, if the kubelet announces nothing. A runtime reads the annotation if
// pod_resources_annotation is set. Annotation returns an error for resources that a runtime would
// reject, except requests for more than its machine has.
func Annotation(pod Pod) (key, value string, err error) {
	resources, err := pod.message()
	if err != nil {
		return "", "", err
	}
	value, err = kep.ToAnnotation(resources)
	return kep.Annotation, value, err
}
