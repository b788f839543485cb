// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "maps"

// endings keeps, of each pod and container whose end was handed in, how far
// that went, until the object has left the runtime's lists. It is what a
// connection that joins in between must know of the object: that the pod is
// stopped, or nothing, if its Remove is out and will not come again.
//
// Engine.mu guards it.
type endings map[string]*podEnding

type podEnding struct {
	ending
	containers map[string]ending
}

type ending struct {
	phase    phase
	removals int // that are under way; more than one may be
}

type phase uint8

const (
	alive   phase = iota
	ended         // its Stop was handed in
	leaving       // its Remove was handed in
)

// with returns the ending with one more event in it.
func (e ending) with(k Kind) ending {
	if k.removal() {
		return ending{leaving, e.removals + 1}
	}
	return ending{max(e.phase, ended), e.removals}
}

// without returns the ending with one removal less, and alive if that was the
// last one.
func (e ending) without() ending {
	if e.removals > 1 {
		return ending{leaving, e.removals - 1}
	}
	return ending{}
}

func (m endings) enter(ev Event) {
	p := m[ev.Pod]
	if p == nil {
		p = &podEnding{}
		m[ev.Pod] = p
	}
	if ev.Container == "" {
		p.ending = p.with(ev.Kind)
		return
	}
	if p.containers == nil {
		p.containers = make(map[string]ending)
	}
	p.containers[ev.Container] = p.containers[ev.Container].with(ev.Kind)
}

// phase says how far the end of an object went.
func (m endings) phase(o object) phase {
	p := m[o.pod]
	switch {
	case p == nil:
		return alive
	case o.container == "":
		return p.phase
	}
	// With their pod all its containers end.
	return max(p.phase, p.containers[o.container].phase)
}

// gone takes back one removal of an object, and forgets it if that was the
// last; with a pod also its containers, but for those that are on their way
// out themselves.
func (m endings) gone(o object) {
	p := m[o.pod]
	if p == nil {
		return
	}
	if o.container == "" {
		if p.ending = p.without(); p.phase == alive {
			maps.DeleteFunc(p.containers, func(_ string, c ending) bool { return c.removals == 0 })
		}
	} else if c := p.containers[o.container].without(); c.phase == alive {
		delete(p.containers, o.container)
	} else {
		p.containers[o.container] = c
	}
	if p.phase == alive && len(p.containers) == 0 {
		delete(m, o.pod)
	}
}

// forget drops what is known of the removal of an object, for one that begins
// under the same id.
func (m endings) forget(o object) {
	p := m[o.pod]
	switch {
	case p == nil:
	case o.container == "" && p.phase == leaving:
		delete(m, o.pod)
	case o.container != "" && p.containers[o.container].phase == leaving:
		delete(p.containers, o.container)
	}
}

// clone returns a copy that later ends do not change.
func (m endings) clone() endings {
	c := make(endings, len(m))
	for id, p := range m {
		c[id] = &podEnding{p.ending, maps.Clone(p.containers)}
	}
	return c
}
