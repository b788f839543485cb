// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "fmt"

// A Kind says what an event tells of its pod or container.
type Kind uint8

// The kinds, in the order in which a pod and a container go through them.
const (
	// Synchronize tells a connection that joins of all that is there. It is
	// never asked for: the engine sends it, see Engine.Join.
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

// first says whether the kind is the first event of a pod or container.
func (k Kind) first() bool {
	return k == RunPodSandbox || k == CreateContainer
}

// begins says whether something runs from the kind on that did not before: the
// first events, and the start of a container.
func (k Kind) begins() bool { return k.first() || k == StartContainer }

// final says whether the kind belongs to the end of a pod or container.
func (k Kind) final() bool {
	switch k {
	case StopPodSandbox, RemovePodSandbox, StopContainer, RemoveContainer:
		return true
	}
	return false
}

// removal says whether nothing follows the kind.
func (k Kind) removal() bool {
	return k == RemovePodSandbox || k == RemoveContainer
}

// An Event is one thing to be told of one pod or container.
type Event struct {
	Kind Kind
	// Pod is the id of the pod, in events of containers too.
	Pod string
	// Container is the id of the container, empty in events of the pod itself.
	Container string
	// Request is for the connection alone; the engine passes it on unread. It
	// must not be changed once it was handed in, but for the each function of
	// Ask. It is read until Ask returns; that of a first event and of an end at
	// any time later.
	Request any
	// Late says of a first event that the plugin missed it, and is told of an
	// object that is there. What it answers changes nothing.
	Late bool
}

// String names the event in errors: "StopContainer of container c1 of pod p1".
func (e Event) String() string {
	switch {
	case e.Container != "":
		return e.Kind.String() + " of container " + e.Container + " of pod " + e.Pod
	case e.Pod != "":
		return e.Kind.String() + " of pod " + e.Pod
	}
	return e.Kind.String()
}

// covers says whether whoever is told of an end has been told of another one
// too, since its ledger sees to that.
func (e *Event) covers(o *Event) bool {
	switch {
	case e.Pod != o.Pod:
		return false
	case e.Kind == RemovePodSandbox:
		return true
	case e.Kind == StopPodSandbox:
		return o.Kind == StopPodSandbox || o.Kind == StopContainer
	}
	return e.Container == o.Container && (e.Kind == RemoveContainer || e.Kind == o.Kind)
}

// object names a pod, or a container of it.
type object struct{ pod, container string }

// stop and removal are the ends of what an object names.
func (o object) stop() Event {
	if o.container != "" {
		return Event{Kind: StopContainer, Pod: o.pod, Container: o.container}
	}
	return Event{Kind: StopPodSandbox, Pod: o.pod}
}

func (o object) removal() Event {
	if o.container != "" {
		return Event{Kind: RemoveContainer, Pod: o.pod, Container: o.container}
	}
	return Event{Kind: RemovePodSandbox, Pod: o.pod}
}

func (e Event) object() object { return object{e.Pod, e.Container} }
