// SPDX-License-Identifier: Apache-2.0

package ledger

// An Event is one thing to be told of one pod or container.
type Event struct {
	Kind Kind
	// Pod is the id of the pod, in events of containers too.
	Pod string
	// Container is the id of the container, empty in events of the pod itself.
	Container string
	// Request is for the connection alone, and passed on unread. It must not be changed
	// once it was handed in, but where a function says so. It is read until that function
	// returns; that of a first event and of an end at any time later.
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

// Same says whether two events tell the same of the same.
func (e *Event) Same(o *Event) bool {
	return e.Kind == o.Kind && e.Pod == o.Pod && e.Container == o.Container
}

// EndsWith says whether an end is that of the event's pod or container, or of the pod around it.
func (e *Event) EndsWith(end Event) bool {
	return end.ID() == e.ID() || end.Container == "" && end.Pod == e.Pod
}

// Covers says whether whoever is told of an end has been told of another one
// too, since its ledger sees to that.
func (e *Event) Covers(o *Event) bool {
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

// ID names the pod or container of the event.
func (e Event) ID() ID { return ID{e.Pod, e.Container} }

// An ID names a pod, or a container of it.
type ID struct{ Pod, Container string }

// Stop is the event with which what an ID names stops.
func (id ID) Stop() Event {
	if id.Container != "" {
		return Event{Kind: StopContainer, Pod: id.Pod, Container: id.Container}
	}
	return Event{Kind: StopPodSandbox, Pod: id.Pod}
}

// Removal is the last event of what an ID names.
func (id ID) Removal() Event {
	if id.Container != "" {
		return Event{Kind: RemoveContainer, Pod: id.Pod, Container: id.Container}
	}
	return Event{Kind: RemovePodSandbox, Pod: id.Pod}
}
