// SPDX-License-Identifier: Apache-2.0

package podresources

// An announcement that reaches one of these bounds is rejected as a whole. They are far above the
// limits of the Kubernetes API, and protect the runtime's memory and store.
const (
	// MaxSize is in bytes, on the wire. It is Kubernetes' limit for all annotations of an
	// object, and leaves room for several pods in a message of NRI, of 4 MiB.
	MaxSize = 256 << 10
	// MaxContainers is the number of containers of one pod.
	MaxContainers = 500
	// MaxItems is the number of mounts, devices, CDI devices and quantities of one pod. An
	// empty one takes a hundred times more bytes in memory than on the wire.
	MaxItems = 4096
	// MaxName is in bytes, of the name of a container or of a resource.
	MaxName = 512
	// MaxQuantity is in whole units: an exbibyte, if they are bytes.
	MaxQuantity = 1 << 60
)

// Bounds of the annotation. The creator of a pod writes it, and the runtime and each plugin hold
// its content as long as the pod exists. The bounds are above the needs of a pod with many
// containers and all its quantities.
const (
	// MaxAnnotation is the length of its text in bytes.
	MaxAnnotation = 32 << 10
	// MaxAnnotationItems is its MaxItems.
	MaxAnnotationItems = 512
)

// Computing with a quantity that has more characters, or more digits in its exponent, would take
// too long.
const (
	maxQuantityText   = 64
	maxExponentDigits = 2
)
