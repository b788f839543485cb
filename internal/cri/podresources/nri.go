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

// Attach writes what the containers of a pod ask for into NRI's PodSandbox. With
// nil, or with what Attached would not read, it has no such field.
func Attach(pod proto.Message, resources *PodResourceConfig) {
	attach(pod, resources)
}

// Attached reads it, and nil if the runtime does not tell.
func Attached(pod proto.Message) (*PodResourceConfig, error) {
	return read(pod, FieldOfNRI, decodePod)
}

// AttachContainer writes what a container asks for into NRI's Container. With
// nil, or with what AttachedContainer would not read, it has no such field.
func AttachContainer(container proto.Message, resources *KubernetesResources) {
	attach(container, resources)
}

// AttachedContainer reads it, and nil if the runtime does not tell.
func AttachedContainer(container proto.Message) (*KubernetesResources, error) {
	return read(container, FieldOfNRI, decodeResources)
}

func attach[T any, M resources[T]](to proto.Message, m M) {
	if write(to, FieldOfNRI, m) != nil {
		setField(to, FieldOfNRI, nil)
	}
}
