// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Pod has the resources that the containers of a pod request.
type Pod struct {
	// Containers are the init and the main ones. Ephemeral ones are never announced.
	Containers []Container
	// Resources are those of the pod as a whole, if its author set some.
	Resources Requirements
}

// Container has the resources that one container requests.
type Container struct {
	Name       string
	Type       ContainerType
	Resources  Requirements
	Mounts     []Mount
	Devices    []Device
	CDIDevices []string // fully qualified: "vendor.com/class=name"
}

// Requirements are resources by name ("cpu", in cores; "memory", in bytes; "vendor.com/gpu"), as
// the user wrote them. The maps are nil if nothing is requested.
type Requirements struct {
	Requests, Limits map[string]resource.Quantity
}

// Mount is a directory, file or image that a container sees.
type Mount struct {
	ContainerPath string
	HostPath      string // empty for an image
	ReadOnly      bool
	// RecursiveReadOnly is set for a ReadOnly mount whose submounts are read-only, too.
	RecursiveReadOnly bool
	Propagation       Propagation
	Image             string // for an image volume, its reference
	ImageSubPath      string // for an image volume, the path in it that is mounted, if not all
}

// Device is a device node of the host that a container can use.
type Device struct {
	ContainerPath string
	HostPath      string
	Permissions   string // of cgroups: a subset of "rwm"
}

// ContainerType says when a container of a pod runs. A client may know more types than these. As
// far as is known, such containers run beside the main ones.
type ContainerType int

const (
	// InitContainer containers start before the main ones, in their order. They include those
	// that restart and run beside the main ones.
	InitContainer ContainerType = iota + 1
	// MainContainer containers are the pod's main ones.
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

// Propagation says where else a mount is visible that is made below another mount.
type Propagation int

const (
	// PropagationPrivate is nowhere.
	PropagationPrivate Propagation = iota
	// PropagationHostToContainer is in the container, if the mount is made on the host.
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
