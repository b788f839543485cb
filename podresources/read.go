// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"github.com/containerd/nri/pkg/api"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	kep "github.com/hookline-nri/hookline/podresources/internal/cri/podresources"
)

// FromPod returns the resources that the containers of a pod request. They are those at the time of
// the event, RunPodSandbox, Synchronize or any other, since in-place updates change them. FromPod
// returns nil if the runtime does not send them, or no client announced them. They travel in a
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

// FromContainer returns the resources that a container requests, at the time of the event. It returns
// nil if the runtime does not send them, or no client announced them. They travel in a provisional
// field, number 1001 of NRI's Container.
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

// FromConfig returns the resources that the containers of a pod request, and nil if none were
// announced. It is for sandboxers, which get the configuration with CreateSandbox: its field 10 has
// the resources, even if they came from the annotation. If the field has other bytes, it returns an
// error, which the caller should log and ignore.
func FromConfig(config *cri.PodSandboxConfig) (*Pod, error) {
	announced, err := kep.Decode(config)
	if announced == nil || err != nil {
		return nil, err
	}
	return podOf(announced), nil
}
