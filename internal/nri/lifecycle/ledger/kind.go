// SPDX-License-Identifier: Apache-2.0

package ledger

import "fmt"

// A Kind is the kind of an event, such as RunPodSandbox.
type Kind uint8

// The kinds, in the order in which a pod and a container go through them.
const (
	// Synchronize lists all pods and containers to a connection that joins. Only the engine
	// sends it.
	Synchronize Kind = iota + 1

	RunPodSandbox
	UpdatePodSandbox
	PostUpdatePodSandbox
	StopPodSandbox
	RemovePodSandbox

	CreateContainer
	ValidateContainerAdjustment
	PostCreateContainer
	StartContainer
	PostStartContainer
	UpdateContainer
	PostUpdateContainer
	StopContainer
	RemoveContainer

	kinds // their number
)

var kindNames = [kinds]string{
	Synchronize:                 "Synchronize",
	RunPodSandbox:               "RunPodSandbox",
	UpdatePodSandbox:            "UpdatePodSandbox",
	PostUpdatePodSandbox:        "PostUpdatePodSandbox",
	StopPodSandbox:              "StopPodSandbox",
	RemovePodSandbox:            "RemovePodSandbox",
	CreateContainer:             "CreateContainer",
	ValidateContainerAdjustment: "ValidateContainerAdjustment",
	PostCreateContainer:         "PostCreateContainer",
	StartContainer:              "StartContainer",
	PostStartContainer:          "PostStartContainer",
	UpdateContainer:             "UpdateContainer",
	PostUpdateContainer:         "PostUpdateContainer",
	StopContainer:               "StopContainer",
	RemoveContainer:             "RemoveContainer",
}

// String returns the name that the kind has in NRI's protocol.
func (k Kind) String() string {
	if k == 0 || k >= kinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// First reports whether the kind is the first event of a pod or container.
func (k Kind) First() bool {
	return k == RunPodSandbox || k == CreateContainer
}

// Updates reports whether the kind asks for other resources of a pod or container.
func (k Kind) Updates() bool { return k == UpdatePodSandbox || k == UpdateContainer }

// Begins reports whether the kind creates a pod or container, or starts a container.
func (k Kind) Begins() bool { return k.First() || k == StartContainer }

// Final reports whether the kind is an end: the Stop or Remove of a pod or container.
func (k Kind) Final() bool {
	switch k {
	case StopPodSandbox, RemovePodSandbox, StopContainer, RemoveContainer:
		return true
	}
	return false
}

// Removal reports whether the kind is a Remove.
func (k Kind) Removal() bool {
	return k == RemovePodSandbox || k == RemoveContainer
}

// KindOf returns the kind of a name in NRI's protocol, zero if there is none.
func KindOf(name string) Kind {
	for k := range kinds {
		if kindNames[k] == name {
			return k
		}
	}
	return 0
}

// Kinds is a set of kinds, as bits.
type Kinds uint32

// KindsOf returns the set of the kinds that a plugin subscribed to.
func KindsOf(subscribed func(Kind) bool) (s Kinds) {
	for k := Synchronize; k < kinds; k++ {
		if subscribed(k) {
			s |= 1 << k
		}
	}
	return s
}

// Has reports whether a kind is in the set.
func (s Kinds) Has(k Kind) bool { return s&(1<<k) != 0 }

// EndNames returns the names of the kinds in the set that are ends.
func (s Kinds) EndNames() (names []string) {
	for k := range kinds {
		if k.Final() && s.Has(k) {
			names = append(names, k.String())
		}
	}
	return names
}

// KindsNamed returns the set of the kinds with these names.
func KindsNamed(names []string) (s Kinds) {
	for _, name := range names {
		s |= 1 << KindOf(name)
	}
	return s
}

var brings = [kinds]Kinds{
	StopContainer:    1 << StopContainer,
	RemoveContainer:  1<<StopContainer | 1<<RemoveContainer,
	StopPodSandbox:   1<<StopContainer | 1<<StopPodSandbox,
	RemovePodSandbox: 1<<StopContainer | 1<<RemoveContainer | 1<<StopPodSandbox | 1<<RemovePodSandbox,
}

// Brings returns the kinds that an end may send to a plugin: its own, and the kinds that may be
// missing before it. It is empty for a kind that is not an end.
func (k Kind) Brings() Kinds { return brings[k] }
