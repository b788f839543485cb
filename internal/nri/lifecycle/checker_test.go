// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
)

// A life is what one connection knows of a pod or container, read off the events that it received
// and nothing else.
type life struct {
	pod              string // of a container
	listed           bool   // was in Synchronize
	asked            bool   // had its first event
	stopped, removed bool
	over             bool // Synchronize listed it as stopped
	before           bool // only an earlier connection knew it
}

// A reading holds the history of one connection against L1 and L3.
type reading struct {
	wants      func(Kind) bool
	pods       map[string]*life
	containers map[string]*life
	again      bool     // whether objects that the name knew before may come again
	before     []string // those objects
	on         bool     // whether this goes on from the history of another connection
	faults     []string
}

// read goes through a history. It knows nothing of the engine.
func read(history []record, wants func(Kind) bool) *reading {
	r := &reading{wants: wants, pods: make(map[string]*life), containers: make(map[string]*life)}
	return r.through(history)
}

// readAgain goes through the history of a plugin that has come back: it may receive the ends of
// what its name knew before, such as "p1" or "p1/c1" (L18).
func readAgain(history []record, wants func(Kind) bool, before []string) *reading {
	r := &reading{wants: wants, pods: make(map[string]*life), containers: make(map[string]*life), again: true, before: before}
	return r.through(history)
}

func (r *reading) through(history []record) *reading {
	for i, rec := range history {
		switch {
		case rec.Kind == Synchronize && i == 0 && !r.on:
			r.listed(rec.listed)
		case rec.Kind == Synchronize:
			r.fault("L1", rec, "is not the first event that the plugin receives")
		case i == 0 && !r.on:
			r.fault("L1", rec, "comes before Synchronize")
			return r
		case !r.wants(rec.Kind):
			r.fault("L14", rec, "was not subscribed to")
		case rec.Container == "":
			r.pod(rec)
		default:
			r.container(rec)
		}
	}
	return r
}

func (r *reading) fault(rule string, rec record, what string) {
	r.faults = append(r.faults, fmt.Sprintf("%s: %s %s", rule, rec, what))
}

func (r *reading) listed(s Snapshot) {
	for _, o := range s.Pods {
		if r.pods[o.Pod] != nil {
			r.fault("L1", record{Event: Event{Kind: Synchronize}, listed: s}, "lists "+o.Pod+" twice")
		}
		r.pods[o.Pod] = &life{listed: true, stopped: o.Stopped, over: o.Stopped}
	}
	for _, o := range s.Containers {
		if r.containers[o.Container] != nil {
			r.fault("L1", record{Event: Event{Kind: Synchronize}, listed: s}, "lists "+o.Container+" twice")
		}
		r.containers[o.Container] = &life{listed: true, pod: o.Pod}
	}
}

func (r *reading) pod(rec record) {
	p := r.pods[rec.Pod]
	if p == nil && (rec.Kind == RunPodSandbox || !r.wants(RunPodSandbox) || rec.Kind.Final() && r.received(rec)) {
		p = &life{before: rec.Kind.Final() && r.received(rec)}
		r.pods[rec.Pod] = p
	}
	if !r.goesOn(rec, p, RunPodSandbox, StopPodSandbox, RemovePodSandbox) {
		return
	}
	for id, c := range r.containers {
		if c.pod != rec.Pod {
			continue
		}
		if rec.Kind == StopPodSandbox && !c.stopped && r.wants(StopContainer) {
			r.fault("L1", rec, "comes before the StopContainer of "+id)
		}
		if rec.Kind == RemovePodSandbox && !c.removed && r.wants(RemoveContainer) {
			r.fault("L1", rec, "comes before the RemoveContainer of "+id)
		}
	}
}

func (r *reading) container(rec record) {
	c := r.containers[rec.Container]
	known := rec.Kind.Final() && r.received(rec)
	if c == nil && (rec.Kind == CreateContainer || !r.wants(CreateContainer) || known) {
		c = &life{pod: rec.Pod, before: known}
		r.containers[rec.Container] = c
		p := r.pods[rec.Pod]
		switch {
		case p == nil && r.wants(RunPodSandbox) && !known:
			r.fault("L3", rec, "is of a pod that the plugin does not know")
		case p != nil && p.stopped && rec.Kind == CreateContainer:
			r.fault("L11", rec, "is in a stopped pod")
		}
	}
	r.goesOn(rec, c, CreateContainer, StopContainer, RemoveContainer)
}

// goesOn holds an event against what the plugin knows of its object.
func (r *reading) goesOn(rec record, l *life, first, stop, remove Kind) bool {
	switch {
	case l == nil:
		r.fault("L3", rec, "is of an object that the plugin does not know")
		return false
	case l.removed:
		r.fault("L3", rec, "comes after the Remove")
		return false
	case rec.Kind == first && (l.asked || l.stopped):
		r.fault("L1", rec, "comes twice, or after the Stop")
	case rec.Kind == CreateContainer && l.listed:
		r.fault("L1", rec, "is of a container that Synchronize listed")
	case rec.Kind == stop && l.over && r.received(rec):
		l.over = false // the name had not received it
	case rec.Kind == stop && l.stopped:
		r.fault("L3", rec, "comes twice")
	case rec.Kind == remove && !l.stopped && r.wants(stop) && (l.listed || l.asked || !r.received(rec)):
		r.fault("L3", rec, "comes without a Stop")
	case rec.Kind != first && rec.Kind != stop && rec.Kind != remove && l.stopped:
		r.fault("L1", rec, "comes after the Stop")
	}
	l.asked = l.asked || rec.Kind == first
	l.stopped = l.stopped || rec.Kind == stop || rec.Kind == remove
	l.removed = rec.Kind == remove
	return true
}

// received reports whether the name received an object before.
func (r *reading) received(rec record) bool {
	switch {
	case !r.again:
		return false
	case slices.Contains(r.before, anything):
		return true
	}
	if rec.Container != "" {
		return !r.wants(CreateContainer) || slices.Contains(r.before, rec.Pod+"/"+rec.Container)
	}
	return !r.wants(RunPodSandbox) || slices.Contains(r.before, rec.Pod)
}

// alive returns the objects that the plugin knows and whose end it has not received.
func (r *reading) alive() (pods, containers []string) {
	for id, p := range r.pods {
		if !p.removed && !p.before && r.wants(RemovePodSandbox) {
			pods = append(pods, id)
		}
	}
	for id, c := range r.containers {
		if !c.removed && !c.before && r.wants(RemoveContainer) {
			containers = append(containers, id)
		}
	}
	slices.Sort(pods)
	slices.Sort(containers)
	return pods, containers
}
