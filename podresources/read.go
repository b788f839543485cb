// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"github.com/containerd/nri/pkg/api"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	kep "github.com/hookline-nri/hookline/podresources/internal/cri/podresources"
)

// FromPod returns what the containers of a pod ask for, as of the event that the
// pod came with, RunPodSandbox, Synchronize or any other: in-place updates change
// it. It is nil if the runtime does not tell, or was not told. It travels in a
// provisional field, number 1001 of NRI's PodSandbox.
func FromPod(pod *api.PodSandbox) *Pod {
	if pod == nil {
		return nil
	}
	config, err := kep.FromNRIPod(pod)
	if config == nil || err != nil {
		return nil
	}
	return podOf(config)
}

// FromContainer returns what a container asks for, as of the event that it came
// with. It is nil if the runtime does not tell, or was not told. It travels in a
// provisional field, number 1001 of NRI's Container.
func FromContainer(container *api.Container) *Requirements {
	if container == nil {
		return nil
	}
	resources, err := kep.FromNRIContainer(container)
	if resources == nil || err != nil {
		return nil
	}
	r := requirementsOf(resources)
	return &r
}

// FromConfig returns what the containers of a pod ask for, and nil if that was not
// said. It is for sandboxers, which get the configuration with CreateSandbox: what
// was announced is in its field 10, also where that came from the annotation.
// Bytes that are none of it are an error, for the caller to log and to go on
// without.
func FromConfig(config *cri.PodSandboxConfig) (*Pod, error) {
	announced, err := kep.Decode(config)
	if announced == nil || err != nil {
		return nil, err
	}
	return podOf(announced), nil
}
