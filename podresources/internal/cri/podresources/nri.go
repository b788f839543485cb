// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/podresources/internal/nri/provisional"
)

// FromNRIPod reads the resources of a pod's containers from NRI's PodSandbox, nil if
// the runtime does not send them. A runtime sets them to [Announcement.Wire], with
// [provisional.Set].
func FromNRIPod(pod proto.Message) (*PodResourceConfig, error) {
	return read(pod, provisional.Resources, decodePod)
}

// FromNRIContainer reads a container's resources from NRI's Container, nil if the
// runtime does not send them. A runtime sets them to [KubernetesResources.Wire].
func FromNRIContainer(container proto.Message) (*KubernetesResources, error) {
	return read(container, provisional.Resources, decodeResources)
}

// Wire returns the encoded resources for a field, nil if there are none.
func (r *KubernetesResources) Wire() []byte {
	wire, _ := encode(r) // resources that were read can be written
	return wire
}
