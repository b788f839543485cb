// SPDX-License-Identifier: Apache-2.0

package hookline

import (
	"fmt"

	"github.com/containerd/nri/pkg/api"
	"k8s.io/apimachinery/pkg/api/resource"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/internal/cri/podresources"
)

// Announcement is what the containers of a pod ask for, known when the pod is
// created, before the first of them exists (Kubernetes' KEP-4112).
type Announcement struct {
	// Containers are the init and the main ones. Ephemeral ones are never told.
	Containers []Container
	// Resources are those of the pod as a whole, where its author gave some.
	Resources Resources
}

// Container is what one container asks for.
type Container struct {
	Name       string
	Type       ContainerType
	Resources  Resources
	Mounts     []Mount
	Devices    []Device
	CDIDevices []string // fully qualified: "vendor.com/class=name"
}

// Resources are by name ("cpu", in cores; "memory", in bytes; "vendor.com/gpu"),
// and as the user wrote them. The maps of what asks for nothing are nil.
type Resources struct {
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
	// Init containers are started before the main ones, in their order. Those that
	// restart, and run on beside the main ones, are among them.
	Init ContainerType = iota + 1
	// Main containers are the pod's own.
	Main
)

// String returns the type in lower case.
func (t ContainerType) String() string {
	switch t {
	case Init:
		return "init"
	case Main:
		return "main"
	}
	return fmt.Sprintf("ContainerType(%d)", int(t))
}

// Propagation is where a mount made below a mount is seen, besides where it is
// made.
type Propagation int

const (
	// Private is nowhere.
	Private Propagation = iota
	// HostToContainer is in the container, if made on the host.
	HostToContainer
	// Bidirectional is on both sides.
	Bidirectional
)

// String returns the propagation as Kubernetes' API has it, Private for None.
func (p Propagation) String() string {
	switch p {
	case Private:
		return "Private"
	case HostToContainer:
		return "HostToContainer"
	case Bidirectional:
		return "Bidirectional"
	}
	return fmt.Sprintf("Propagation(%d)", int(p))
}

// Announced returns what the containers of a pod ask for, and nil if that was not
// said. It is for runtimes: a sandboxer gets the configuration with CreateSandbox,
// and the announcement in its field 10, also where that came from the annotation.
// Bytes that are none are an error, for the runtime to log and to go on without.
func Announced(config *cri.PodSandboxConfig) (*Announcement, error) {
	announced, err := podresources.Decode(config)
	if announced == nil || err != nil {
		return nil, err
	}
	return announcementOf(announced), nil
}

// PodResources returns what the containers of a pod ask for, as of the event that
// the pod came with, RunPodSandbox, Synchronize or any other: in-place updates
// change it. It is nil if the runtime does not tell, or was not told. It travels
// in a provisional field, number 1001 of NRI's PodSandbox.
func PodResources(pod *api.PodSandbox) *Announcement {
	if pod == nil {
		return nil
	}
	config, err := podresources.FromNRIPod(pod)
	if config == nil || err != nil {
		return nil
	}
	return announcementOf(config)
}

// ContainerResources returns what a container asks for, as of the event that it
// came with. It is nil if the runtime does not tell, or was not told. It travels
// in a provisional field, number 1001 of NRI's Container.
func ContainerResources(container *api.Container) *Resources {
	if container == nil {
		return nil
	}
	attached, err := podresources.FromNRIContainer(container)
	if attached == nil || err != nil {
		return nil
	}
	r := resourcesOf(attached)
	return &r
}
