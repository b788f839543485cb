// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/internal/nri/provisional"
)

// FromNRIPod reads from NRI's PodSandbox what the containers of a pod ask for, and
// nil if the runtime does not tell. A runtime puts there what [Announcement.Wire]
// returns, with [provisional.Set].
func FromNRIPod(pod proto.Message) (*PodResourceConfig, error) {
	return read(pod, provisional.Resources, decodePod)
}

// FromNRIContainer reads from NRI's Container what it asks for, and nil if the
// runtime does not tell. A runtime puts there what [KubernetesResources.Wire]
// returns.
func FromNRIContainer(container proto.Message) (*KubernetesResources, error) {
	return read(container, provisional.Resources, decodeResources)
}

// Wire is what a container asks for as it travels in a field, and nil of nothing.
func (r *KubernetesResources) Wire() []byte {
	wire, _ := encode(r) // what was read can be written
	return wire
}
