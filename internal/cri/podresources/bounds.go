// SPDX-License-Identifier: Apache-2.0

package podresources

// An announcement that reaches one of these bounds is refused as a whole. They are
// far above what the Kubernetes API allows, and protect the runtime's memory and
// store.
const (
	// MaxSize is in bytes, on the wire or in the annotation. It is what Kubernetes
	// allows for all annotations of an object, and leaves room for several pods in a
	// message of NRI, of 4 MiB.
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

// A quantity with more characters, or more digits in its exponent, would take too
// long to compute with.
const (
	maxQuantityText   = 64
	maxExponentDigits = 2
)
