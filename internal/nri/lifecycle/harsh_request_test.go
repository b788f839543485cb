// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// In a harsh world each event has a request of its own, wherever the request was made, and
// plugins receive no event without it.

// asked returns an event that the runtime hands in, with its request: its own name.
func (h *harshness) asked(name string) Event {
	ev := event(name)
	if h != nil {
		ev.Request = name
	}
	return ev
}

// valueOf is the value with which the runtime lists an object.
func valueOf(o ledger.ID) string { return o.Pod + "/" + o.Container }

// created is the value of a container that the runtime does not list yet.
func created(o ledger.ID) string {
	return eventName(Event{Kind: CreateContainer, Pod: o.Pod, Container: o.Container})
}

// valued gives each object of a list its value.
func valued(s Snapshot) Snapshot {
	for _, objects := range [][]Object{s.Pods, s.Containers, s.Exited} {
		for i := range objects {
			objects[i].Value = valueOf(objects[i].ID())
		}
	}
	return s
}

// requests sets how an engine makes requests and stores them.
func (h *harshness) requests(w *world, o *Options) {
	o.Encode = func(ev Event) string { return fmt.Sprint(ev.Request) }
	o.Decode = func(_ Event, stored string) any { return stored }
	o.ImpliedEnd = func(kind Kind, container string, of Event) any {
		may := []any{nil, eventName(of), valueOf(of.ID()), valueOf(ledger.ID{Pod: of.Pod}), created(of.ID())}
		if !slices.Contains(may, of.Request) {
			w.fault("L1: the request of %s of %s is made of %v", kind, container, of.Request)
		}
		return eventName(Event{Kind: kind, Pod: of.Pod, Container: container})
	}
	o.Begun = func(ev Event, pod, value any) any {
		// A pod that has gone while the runtime listed has no value.
		if pod != nil && pod != valueOf(ledger.ID{Pod: ev.Pod}) || value != valueOf(ev.ID()) && value != created(ev.ID()) {
			w.fault("L19: the request of %s is made of %v and %v", record{Event: ev}, pod, value)
		}
		return eventName(ev)
	}
}

// sees checks that an event has its own request when it is sent to a plugin.
func (h *harshness) sees(p *simPlugin, ev Event) {
	if h != nil && ev.Request != eventName(ev) {
		p.process.w.fault("L18: %s receives %s with the request %v", p.name, record{Event: ev}, ev.Request)
	}
}
