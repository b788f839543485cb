// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/podresources/internal/nri/provisional"
)

// The KEP's field numbers in CRI's messages.
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

// Decode reads the resources of a new pod's containers, nil if the client sends
// none. See [Take] for pods with the annotation.
func Decode(config *runtime.PodSandboxConfig) (*PodResourceConfig, error) {
	return read(config, FieldOfPod, decodePod)
}

// FromContainer reads the resources of a new container, nil if the client sends
// none.
func FromContainer(config *runtime.ContainerConfig) (*KubernetesResources, error) {
	return read(config, FieldOfContainer, decodeResources)
}

// FromUpdate reads the new resources of a container, nil if the client sends none.
func FromUpdate(request *runtime.UpdateContainerResourcesRequest) (*KubernetesResources, error) {
	return read(request, FieldOfUpdate, decodeResources)
}

// FromPodUpdate reads the new resources of a pod's containers, nil if the client
// sends none.
func FromPodUpdate(request *runtime.UpdatePodSandboxResourcesRequest) (*PodResourceConfig, error) {
	return read(request, FieldOfPodUpdate, decodePod)
}

// Set is the client's side of Decode. Nil removes the field.
func Set(config *runtime.PodSandboxConfig, resources *PodResourceConfig) error {
	return write(config, FieldOfPod, resources)
}

// SetContainer is the client's side of FromContainer. Nil removes the field.
func SetContainer(config *runtime.ContainerConfig, resources *KubernetesResources) error {
	return write(config, FieldOfContainer, resources)
}

// SetUpdate is the client's side of FromUpdate. Nil removes the field.
func SetUpdate(request *runtime.UpdateContainerResourcesRequest, resources *KubernetesResources) error {
	return write(request, FieldOfUpdate, resources)
}

// SetPodUpdate is the client's side of FromPodUpdate. Nil removes the field.
func SetPodUpdate(request *runtime.UpdatePodSandboxResourcesRequest, resources *PodResourceConfig) error {
	return write(request, FieldOfPodUpdate, resources)
}

// resources is a message that a field can hold.
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
		return nil, inField(number, from, tooLarge(len(wire), MaxSize))
	}
	m, err := decode(wire)
	if err != nil {
		return nil, inField(number, from, err)
	}
	return m, nil
}

// write rejects what read would reject.
func write[T any, M resources[T]](to proto.Message, number protowire.Number, m M) error {
	wire, err := encode(m)
	if err != nil {
		return inField(number, to, err)
	}
	provisional.Set(to, number, wire)
	return nil
}

// inField adds the name of a field to its error.
func inField(number protowire.Number, m proto.Message, err error) error {
	return fmt.Errorf("field %d of %s: %w", number, m.ProtoReflect().Descriptor().Name(), err)
}

// encode returns the same bytes for the same resources, and nil for nil.
func encode[T any, M resources[T]](m M) ([]byte, error) {
	if m == nil {
		return nil, nil
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	return marshal(m)
}

// marshal is encode for a message that was validated.
func marshal(m proto.Message) ([]byte, error) {
	wire, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend([]byte{}, m)
	switch {
	case err != nil:
		return nil, err
	case len(wire) >= MaxSize:
		return nil, tooLarge(len(wire), MaxSize)
	}
	return wire, nil
}
