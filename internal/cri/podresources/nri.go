// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// FieldOfNRI is a provisional field of NRI's PodSandbox, where it holds a
// PodResourceConfig, and of its Container, where it holds KubernetesResources.
// NRI does not give the number out, and who does not know it passes it over.
const FieldOfNRI protowire.Number = 1001

// Attach writes what is asked for, encoded, into NRI's PodSandbox or Container.
// With nil it has no such field.
func Attach(to proto.Message, wire []byte) { setField(to, FieldOfNRI, wire) }

// Attached reads what the containers of a pod ask for, and nil if the runtime does
// not tell.
func Attached(pod proto.Message) (*PodResourceConfig, error) {
	return read(pod, FieldOfNRI, decodePod)
}

// AttachedContainer reads what a container asks for, and nil if the runtime does
// not tell.
func AttachedContainer(container proto.Message) (*KubernetesResources, error) {
	return read(container, FieldOfNRI, decodeResources)
}

// Wire is what a container asks for as it travels in a field, and nil of nothing.
func (r *KubernetesResources) Wire() []byte {
	wire, _ := encode(r) // what was read can be written
	return wire
}
