// SPDX-License-Identifier: Apache-2.0

package ledger

import "fmt"

// A Kind says what an event tells of its pod or container.
type Kind uint8

// The kinds, in the order in which a pod and a container go through them.
const (
	// Synchronize tells a connection that joins of all that is there. It is
	// never asked for: the engine sends it.
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

// First says whether the kind is the first event of a pod or container.
func (k Kind) First() bool {
	return k == RunPodSandbox || k == CreateContainer
}

// Begins says whether something runs from the kind on that did not before: the
// first events, and the start of a container.
func (k Kind) Begins() bool { return k.First() || k == StartContainer }

// Final says whether the kind belongs to the end of a pod or container.
func (k Kind) Final() bool {
	switch k {
	case StopPodSandbox, RemovePodSandbox, StopContainer, RemoveContainer:
		return true
	}
	return false
}

// Removal says whether nothing follows the kind.
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

// KindsOf returns the set of those that a plugin subscribed to.
func KindsOf(subscribed func(Kind) bool) (s Kinds) {
	for k := Synchronize; k < kinds; k++ {
		if subscribed(k) {
			s |= 1 << k
		}
	}
	return s
}

// Has says whether a kind is in the set.
func (s Kinds) Has(k Kind) bool { return s&(1<<k) != 0 }

// EndNames returns the names of those kinds in the set that belong to ends.
func (s Kinds) EndNames() (names []string) {
	for k := range kinds {
		if k.Final() && s.Has(k) {
			names = append(names, k.String())
		}
	}
	return names
}

// KindsNamed returns the set of kinds of these names.
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

// Brings returns the kinds that an end may bring a plugin: its own, and those that the ledger
// finds missing before it. It is empty for what is no end.
func (k Kind) Brings() Kinds { return brings[k] }
