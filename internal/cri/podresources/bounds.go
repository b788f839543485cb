// SPDX-License-Identifier: Apache-2.0

package podresources

// What reaches one of these bounds is refused as a whole. They are far above
// what the Kubernetes API lets through, and keep what is none of that out of the
// runtime's memory and off its store.
const (
	// MaxSize is in bytes, of what is on the wire or in the annotation. It is what
	// Kubernetes allows for all annotations of an object, and leaves a message of
	// NRI, of 4 MiB, room for more pods than one.
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

// A quantity of more characters or of more digits in its exponent takes longer
// to compute with than it could be worth.
const (
	maxQuantityText   = 64
	maxExponentDigits = 2
)
