// SPDX-License-Identifier: Apache-2.0

package podresources

// An announcement that reaches one of these bounds is rejected as a whole. They are
// far above what the Kubernetes API allows, and protect the runtime's memory and
// store.
const (
	// MaxSize is in bytes, on the wire. It is what Kubernetes allows for all
	// annotations of an object, and leaves room for several pods in a message of NRI,
	// of 4 MiB.
	MaxSize = 256 << 10
	// MaxContainers is the number of containers of one pod.
	MaxContainers = 500
	// MaxItems is the number of mounts, devices, CDI devices and quantities of one
	// pod. In memory an empty one takes a hundred times what it does on the wire.
	MaxItems = 4096
	// MaxName is in bytes, of the name of a container or of a resource.
	MaxName = 512
	// MaxQuantity is in whole units: an exbibyte, if they are bytes.
	MaxQuantity = 1 << 60
)

// Bounds of the annotation. Whoever creates a pod writes it, and the runtime and each
// plugin hold what it says for as long as the pod exists. They are above what a pod of
// many containers needs, with all its quantities.
const (
	// MaxAnnotation is in bytes of its text.
	MaxAnnotation = 32 << 10
	// MaxAnnotationItems is what MaxItems is for the field.
	MaxAnnotationItems = 512
)

// A quantity with more characters, or more digits in its exponent, would take too
// long to compute with.
const (
	maxQuantityText   = 64
	maxExponentDigits = 2
)
