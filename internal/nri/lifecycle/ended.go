// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// endedObjects keeps how far the end of each pod and container has come, from when the end was
// submitted until the object has left the runtime's lists. A connection that joins meanwhile
// receives the pod as stopped; or not at all, if its Remove is out and will not come again.
//
// Engine.mu guards it.
type endedObjects map[string]*endedPod

type endedPod struct {
	lifeEnd
	containers map[string]lifeEnd
}

type lifeEnd struct {
	stage    stage
	removals int // how many were submitted; there may be more than one
}

// A stage is how far the life of an object has come.
type stage uint8

const (
	alive   stage = iota
	ended         // its Stop was submitted
	leaving       // its Remove was submitted
)

// with returns the end with one more event in it.
func (e lifeEnd) with(k Kind) lifeEnd {
	if k.Removal() {
		return lifeEnd{leaving, e.removals + 1}
	}
	return lifeEnd{max(e.stage, ended), e.removals}
}

// without returns the end with one removal less, or alive if that was the last one.
func (e lifeEnd) without() lifeEnd {
	if e.removals > 1 {
		return lifeEnd{leaving, e.removals - 1}
	}
	return lifeEnd{}
}

func (m endedObjects) enter(ev Event) {
	p := m[ev.Pod]
	if p == nil {
		p = &endedPod{}
		m[ev.Pod] = p
	}
	if ev.Container == "" {
		p.lifeEnd = p.with(ev.Kind)
		return
	}
	if p.containers == nil {
		p.containers = make(map[string]lifeEnd)
	}
	p.containers[ev.Container] = p.containers[ev.Container].with(ev.Kind)
}

// stage returns the stage of an object.
func (m endedObjects) stage(o ledger.ID) stage {
	p := m[o.Pod]
	switch {
	case p == nil:
		return alive
	case o.Container == "":
		return p.stage
	}
	// The end of a pod ends all its containers.
	return max(p.stage, p.containers[o.Container].stage)
}

// gone takes back one removal of an object, and forgets the object if that was the last one. With
// a pod it also forgets its containers, except for those with removals of their own.
func (m endedObjects) gone(o ledger.ID) {
	p := m[o.Pod]
	if p == nil {
		return
	}
	if o.Container == "" {
		if p.lifeEnd = p.without(); p.stage == alive {
			maps.DeleteFunc(p.containers, func(_ string, c lifeEnd) bool { return c.removals == 0 })
		}
	} else if c := p.containers[o.Container].without(); c.stage == alive {
		delete(p.containers, o.Container)
	} else {
		p.containers[o.Container] = c
	}
	if p.stage == alive && len(p.containers) == 0 {
		delete(m, o.Pod)
	}
}

// forget drops the removal of an object, because another object begins under its id.
func (m endedObjects) forget(o ledger.ID) {
	p := m[o.Pod]
	switch {
	case p == nil:
	case o.Container == "" && p.stage == leaving:
		delete(m, o.Pod)
	case o.Container != "" && p.containers[o.Container].stage == leaving:
		delete(p.containers, o.Container)
	}
}

// clone returns a copy that later ends do not change.
func (m endedObjects) clone() endedObjects {
	c := make(endedObjects, len(m))
	for id, p := range m {
		c[id] = &endedPod{p.lifeEnd, maps.Clone(p.containers)}
	}
	return c
}

// remembered is how many removals the engine remembers, for connections that join while the
// runtime may still list a removed object. A runtime drops an object from its lists within one
// request, and far fewer requests are under way at a time.
const remembered = 1024

// removals are the last objects that were removed. Engine.mu guards them.
type removals struct {
	ring [remembered]ledger.ID
	next int
}

// add remembers a removed object, and returns the one that it replaces, if any.
func (r *removals) add(o ledger.ID) (gone ledger.ID, ok bool) {
	gone = r.ring[r.next]
	r.ring[r.next] = o
	r.next = (r.next + 1) % remembered
	return gone, gone.Pod != ""
}
