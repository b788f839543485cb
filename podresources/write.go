// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	kep "github.com/hookline-nri/hookline/podresources/internal/cri/podresources"
)

// SetPod says with a new pod what its containers ask for. It is for clients of a
// runtime: of CRI's PodSandboxConfig it uses field 10, which CRI itself does not
// have yet, and a runtime that does not know it passes it over. What a runtime that
// knows it would ignore is an error here, such as a negative quantity or a name that
// two containers have, and so is a container without a type.
func SetPod(config *cri.PodSandboxConfig, pod Pod) error {
	resources, err := pod.message()
	if err != nil {
		return err
	}
	return kep.Set(config, resources)
}

// SetContainer says with a new container what it asks for, in the provisional field
// 1018 of CRI's ContainerConfig. What a runtime would ignore is an error.
func SetContainer(config *cri.ContainerConfig, resources Requirements) error {
	return kep.SetContainer(config, resources.message())
}

// SetContainerUpdate says with an update what the container asks for from now on,
// in field 5 of CRI's UpdateContainerResourcesRequest. What a runtime would ignore
// is an error.
func SetContainerUpdate(request *cri.UpdateContainerResourcesRequest, resources Requirements) error {
	return kep.SetUpdate(request, resources.message())
}

// SetPodUpdate says with an update what the containers of the pod ask for from
// now on, all of them, in field 4 of CRI's UpdatePodSandboxResourcesRequest. What a
// runtime would ignore is an error.
func SetPodUpdate(request *cri.UpdatePodSandboxResourcesRequest, pod Pod) error {
	resources, err := pod.message()
	if err != nil {
		return err
	}
	return kep.SetPodUpdate(request, resources)
}

// Annotation is for admission webhooks, where the kubelet announces nothing: key and
// value of a pod's annotation, which a runtime reads where pod_resources_annotation is
// set. What a runtime would reject is an error, but for requests of more than its machine
// has.
func Annotation(pod Pod) (key, value string, err error) {
	resources, err := pod.message()
	if err != nil {
		return "", "", err
	}
	value, err = kep.ToAnnotation(resources)
	return kep.Annotation, value, err
}
