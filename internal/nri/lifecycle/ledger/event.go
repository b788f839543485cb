// SPDX-License-Identifier: Apache-2.0

package ledger

// An Event is one event of one pod or container.
type Event struct {
	Kind Kind
	// Pod is the id of the pod, also in events of containers.
	Pod string
	// Container is the id of the container, empty in events of the pod itself.
	Container string
	// Request is for the connection alone; the engine does not read it. The caller must not
	// change it after passing the event to a function, unless that function allows it. The
	// connection may read it until the function returns, and the Request of a first event,
	// an end or an update at any later time.
	Request any
	// Late is set for a first event that the plugin missed, and receives when the object
	// already exists, for what holds after an update, and for an update that went on without
	// the plugin. Its answer changes nothing.
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

// Same reports whether two events have the same kind and object.
func (e *Event) Same(o *Event) bool {
	return e.Kind == o.Kind && e.Pod == o.Pod && e.Container == o.Container
}

// EndsWith reports whether an end is that of the event's pod or container, or of its pod.
func (e *Event) EndsWith(end Event) bool {
	return end.ID() == e.ID() || end.Container == "" && end.Pod == e.Pod
}

// Covers reports whether a plugin that has received the end e has also received the end o,
// because the ledger delivers o first.
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

// Stop is the Stop of the pod or container.
func (id ID) Stop() Event {
	if id.Container != "" {
		return Event{Kind: StopContainer, Pod: id.Pod, Container: id.Container}
	}
	return Event{Kind: StopPodSandbox, Pod: id.Pod}
}

// Removal is the Remove of the pod or container, its last event.
func (id ID) Removal() Event {
	if id.Container != "" {
		return Event{Kind: RemoveContainer, Pod: id.Pod, Container: id.Container}
	}
	return Event{Kind: RemovePodSandbox, Pod: id.Pod}
}
