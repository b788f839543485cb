// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Pod is what the containers of a pod ask for.
type Pod struct {
	// Containers are the init and the main ones. Ephemeral ones are never told.
	Containers []Container
	// Resources are those of the pod as a whole, where its author gave some.
	Resources Requirements
}

// Container is what one container asks for.
type Container struct {
	Name       string
	Type       ContainerType
	Resources  Requirements
	Mounts     []Mount
	Devices    []Device
	CDIDevices []string // fully qualified: "vendor.com/class=name"
}

// Requirements are resources by name ("cpu", in cores; "memory", in bytes;
// "vendor.com/gpu"), as the user wrote them. The maps of what asks for nothing are
// nil.
type Requirements struct {
	Requests, Limits map[string]resource.Quantity
}

// Mount is a directory, file or image that a container sees.
type Mount struct {
	ContainerPath string
	HostPath      string // empty for an image
	ReadOnly      bool
	// RecursiveReadOnly is of a ReadOnly mount whose submounts are so as well.
	RecursiveReadOnly bool
	Propagation       Propagation
	Image             string // for an image volume, its reference
	ImageSubPath      string // of an image volume, what is mounted of it, if not all
}

// Device is a device node of the host that a container can use.
type Device struct {
	ContainerPath string
	HostPath      string
	Permissions   string // of cgroups: a subset of "rwm"
}

// ContainerType is when a container of a pod runs. A client may know of others than
// those here: they run beside the main ones, for all that is known.
type ContainerType int

const (
	// InitContainer is of those that are started before the main ones, in their
	// order. Those that restart, and run on beside the main ones, are among them.
	InitContainer ContainerType = iota + 1
	// MainContainer is of the pod's own.
	MainContainer
)

// String returns the type in lower case.
func (t ContainerType) String() string {
	switch t {
	case InitContainer:
		return "init"
	case MainContainer:
		return "main"
	}
	return fmt.Sprintf("ContainerType(%d)", int(t))
}

// Propagation is where a mount made below a mount is seen, besides where it is
// made.
type Propagation int

const (
	// PropagationPrivate is nowhere.
	PropagationPrivate Propagation = iota
	// PropagationHostToContainer is in the container, if made on the host.
	PropagationHostToContainer
	// PropagationBidirectional is on both sides.
	PropagationBidirectional
)

// String returns the propagation as Kubernetes' API has it, Private for None.
func (p Propagation) String() string {
	switch p {
	case PropagationPrivate:
		return "Private"
	case PropagationHostToContainer:
		return "HostToContainer"
	case PropagationBidirectional:
		return "Bidirectional"
	}
	return fmt.Sprintf("Propagation(%d)", int(p))
}
