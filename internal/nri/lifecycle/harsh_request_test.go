// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
)

// What a harsh world knows of the requests of events: each has one that is its own, whoever
// made it, and a plugin is sent no event without.

// asked returns an event that the runtime hands in, with its request: its own name.
func (h *harshness) asked(name string) Event {
	ev := event(name)
	if h != nil {
		ev.Request = name
	}
	return ev
}

// value is what the runtime lists an object with.
func (o object) value() string { return o.pod + "/" + o.container }

// created is the value of a container that the runtime does not list yet.
func created(o object) string {
	return eventName(Event{Kind: CreateContainer, Pod: o.pod, Container: o.container})
}

// valued gives all that a list has its value.
func (s Snapshot) valued() Snapshot {
	for _, objects := range [][]Object{s.Pods, s.Containers, s.Exited} {
		for i := range objects {
			objects[i].Value = objects[i].object().value()
		}
	}
	return s
}

// requests are the settings of an engine by which requests are made and stored.
func (h *harshness) requests(w *world, o *Options) {
	o.Encode = func(ev Event) string { return fmt.Sprint(ev.Request) }
	o.Decode = func(_ Event, stored string) any { return stored }
	o.ImpliedEnd = func(kind Kind, container string, of Event) any {
		may := []any{nil, eventName(of), of.object().value(), object{pod: of.Pod}.value(), created(of.object())}
		if !slices.Contains(may, of.Request) {
			w.fault("L1: the request of %s of %s is made of %v", kind, container, of.Request)
		}
		return eventName(Event{Kind: kind, Pod: of.Pod, Container: container})
	}
	o.Begun = func(ev Event, pod, value any) any {
		// A pod that has gone while the runtime listed is none.
		if pod != nil && pod != (object{pod: ev.Pod}).value() || value != ev.object().value() && value != created(ev.object()) {
			w.fault("L19: the request of %s is made of %v and %v", record{Event: ev}, pod, value)
		}
		return eventName(ev)
	}
}

// sees holds the request that a plugin is sent against its event.
func (h *harshness) sees(p *simPlugin, ev Event) {
	if h != nil && ev.Request != eventName(ev) {
		p.process.w.fault("L18: %s is sent %s with the request %v", p.name, record{Event: ev}, ev.Request)
	}
}
