// SPDX-License-Identifier: Apache-2.0

package hookline

import (
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/internal/cri/podresources"
)

// SetPodResources announces with a new pod what its containers ask for. It is for
// clients of a runtime: of CRI's PodSandboxConfig it uses field 10, which CRI
// itself does not have yet, and a runtime that does not know it passes it over.
// What such a runtime would ignore is an error here, for one a negative quantity
// or a name that two containers have, and so is a container without a type.
func SetPodResources(config *cri.PodSandboxConfig, announcement Announcement) error {
	resources, err := announcement.message()
	if err != nil {
		return err
	}
	return podresources.Set(config, resources)
}

// SetContainerResources says with a new container what it asks for, in the
// provisional field 1018 of CRI's ContainerConfig. What a runtime would ignore is
// an error.
func SetContainerResources(config *cri.ContainerConfig, resources Resources) error {
	return podresources.SetContainer(config, resources.message())
}

// SetContainerUpdate says with an update what the container asks for from now on,
// in field 5 of CRI's UpdateContainerResourcesRequest. What a runtime would ignore
// is an error.
func SetContainerUpdate(request *cri.UpdateContainerResourcesRequest, resources Resources) error {
	return podresources.SetUpdate(request, resources.message())
}

// SetPodUpdate says with an update what the containers of the pod ask for from
// now on, all of them, in field 4 of CRI's UpdatePodSandboxResourcesRequest. What a
// runtime would ignore is an error.
func SetPodUpdate(request *cri.UpdatePodSandboxResourcesRequest, announcement Announcement) error {
	resources, err := announcement.message()
	if err != nil {
		return err
	}
	return podresources.SetPodUpdate(request, resources)
}

// PodResourcesAnnotation is for admission webhooks, where the kubelet announces
// nothing: the annotation of a pod that a runtime then reads. What a runtime would
// refuse is an error.
func PodResourcesAnnotation(announcement Announcement) (key, value string, err error) {
	resources, err := announcement.message()
	if err != nil {
		return "", "", err
	}
	value, err = podresources.ToAnnotation(resources)
	return podresources.Annotation, value, err
}
