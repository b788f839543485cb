// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/internal/nri/provisional"
)

// Where the KEP has its fields in CRI's messages.
const (
	// FieldOfPod is in PodSandboxConfig.
	FieldOfPod protowire.Number = 10
	// FieldOfContainer is in ContainerConfig, and provisional: the KEP says 18,
	// which CRI has given to stop_signal since.
	FieldOfContainer protowire.Number = 1018
	// FieldOfUpdate is in UpdateContainerResourcesRequest.
	FieldOfUpdate protowire.Number = 5
	// FieldOfPodUpdate is in UpdatePodSandboxResourcesRequest.
	FieldOfPodUpdate protowire.Number = 4
)

// Decode reads what the containers of a new pod ask for, and nil if the client
// does not say. See [Take] for pods with the annotation.
func Decode(config *runtime.PodSandboxConfig) (*PodResourceConfig, error) {
	return read(config, FieldOfPod, decodePod)
}

// FromContainer reads what a new container asks for, and nil if the client does
// not say.
func FromContainer(config *runtime.ContainerConfig) (*KubernetesResources, error) {
	return read(config, FieldOfContainer, decodeResources)
}

// FromUpdate reads what a container asks for from now on, and nil if the client
// does not say.
func FromUpdate(request *runtime.UpdateContainerResourcesRequest) (*KubernetesResources, error) {
	return read(request, FieldOfUpdate, decodeResources)
}

// FromPodUpdate reads what the containers of a pod ask for from now on, and nil
// if the client does not say.
func FromPodUpdate(request *runtime.UpdatePodSandboxResourcesRequest) (*PodResourceConfig, error) {
	return read(request, FieldOfPodUpdate, decodePod)
}

// Set is a client's side of Decode. Nil takes the field away.
func Set(config *runtime.PodSandboxConfig, resources *PodResourceConfig) error {
	return write(config, FieldOfPod, resources)
}

// SetContainer is a client's side of FromContainer. Nil takes the field away.
func SetContainer(config *runtime.ContainerConfig, resources *KubernetesResources) error {
	return write(config, FieldOfContainer, resources)
}

// SetUpdate is a client's side of FromUpdate. Nil takes the field away.
func SetUpdate(request *runtime.UpdateContainerResourcesRequest, resources *KubernetesResources) error {
	return write(request, FieldOfUpdate, resources)
}

// SetPodUpdate is a client's side of FromPodUpdate. Nil takes the field away.
func SetPodUpdate(request *runtime.UpdatePodSandboxResourcesRequest, resources *PodResourceConfig) error {
	return write(request, FieldOfPodUpdate, resources)
}

// resources are what a field can hold.
type resources[T any] interface {
	*T
	proto.Message
	validate() error
}

func read[T any, M resources[T]](from proto.Message, number protowire.Number, decode func([]byte) (M, error)) (M, error) {
	wire, err := provisional.Get(from, number)
	switch {
	case err != nil:
		return nil, inField(number, from, err)
	case wire == nil:
		return nil, nil
	case len(wire) >= MaxSize:
		return nil, inField(number, from, tooLarge(len(wire)))
	}
	m, err := decode(wire)
	if err != nil {
		return nil, inField(number, from, err)
	}
	return m, nil
}

// write refuses what read would.
func write[T any, M resources[T]](to proto.Message, number protowire.Number, m M) error {
	wire, err := encode(m)
	if err != nil {
		return inField(number, to, err)
	}
	provisional.Set(to, number, wire)
	return nil
}

// inField says of an error where it was.
func inField(number protowire.Number, m proto.Message, err error) error {
	return fmt.Errorf("field %d of %s: %w", number, m.ProtoReflect().Descriptor().Name(), err)
}

// encode gives the same bytes for the same resources, and nil for nil.
func encode[T any, M resources[T]](m M) ([]byte, error) {
	if m == nil {
		return nil, nil
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	return marshal(m)
}

// marshal is encode of what was validated.
func marshal(m proto.Message) ([]byte, error) {
	wire, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend([]byte{}, m)
	switch {
	case err != nil:
		return nil, err
	case len(wire) >= MaxSize:
		return nil, tooLarge(len(wire))
	}
	return wire, nil
}
