// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"slices"
)

// What a world knows of names that are handed over (L19): a connection that succeeds
// another one has, together with that one, the history of one.

// A handed says of a plugin whom it has succeeded. world.mu guards it.
type handed struct {
	after *simPlugin // that it has succeeded, nil if none
	whole bool       // nothing was sent to that one after this one was synchronized
}

// follows notes that a plugin has joined, maybe in the place of another one.
func (p *process) follows(s *simPlugin) {
	turned, behind := p.engine.turnedTo(s)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	f := p.w.latest[s.name]
	p.w.latest[s.name] = s
	if !turned {
		return
	}
	f.mu.Lock()
	answered := len(f.answered) == len(f.history)-1 && !f.cut
	f.mu.Unlock()
	s.handed = handed{f, !behind && answered && f.mask == s.mask}
	if behind && s.synchronize == nil && !slices.ContainsFunc(p.w.plugins, func(o *simPlugin) bool { return o.name == s.name && o.joined.IsZero() && o != s }) {
		p.w.faults = append(p.w.faults, fmt.Sprintf("L19: %s was sent events while its successor was synchronized at once", s.name))
	}
	if s.handed.whole {
		p.w.tookAll(s, f)
	}
}

// tookAll sees to it that a successor knows what there is and the first knew. world.mu
// is held.
func (w *world) tookAll(s, f *simPlugin) {
	for id, pod := range w.pods {
		if !pod.stopping && f.knows(id, "") && !s.knows(id, "") {
			w.faults = append(w.faults, fmt.Sprintf("L19: %s took over and was not told of pod %s", s.name, id))
		}
	}
	for id, c := range w.containers {
		if !c.exited && !c.removed && f.knows(c.pod, id) && !s.knows(c.pod, id) && !w.pods[c.pod].stopping {
			w.faults = append(w.faults, fmt.Sprintf("L19: %s took over and was not told of container %s", s.name, id))
		}
	}
}

// turnedTo says whether a connection has taken over, and whether it was from one that
// had been sent events since its Synchronize began.
func (e *Engine) turnedTo(c Connection) (turned, behind bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.lanes {
		if l.conn == c {
			return l.offered != nil, l.behind
		}
	}
	return false, false
}

// turned returns what was sent to a plugin after its successor was sent an event.
func (p *simPlugin) turned() (faults []string) {
	w := p.process.w
	w.mu.Lock()
	f := p.handed.after
	w.mu.Unlock()
	if f == nil {
		return nil
	}
	p.mu.Lock()
	var from uint64
	if len(p.history) > 1 {
		from = p.history[1].nth
	}
	p.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rec := range f.history {
		if from > 0 && rec.nth > from {
			faults = append(faults, fmt.Sprintf("L19: %s is sent %s after its successor was sent events", p.name, rec))
		}
	}
	return faults
}

// readOn reads the history of a plugin that has taken over whole as that of one with
// those before it, nil if it has not.
func (w *world) readOn(p *simPlugin) *reading {
	w.mu.Lock()
	chain := []*simPlugin{p}
	for chain[0].handed.whole {
		chain = slices.Insert(chain, 0, chain[0].handed.after)
	}
	plugins := slices.Clone(w.plugins)
	w.mu.Unlock()
	if len(chain) == 1 {
		return nil
	}
	r := &reading{wants: p.wants, pods: make(map[string]*life), containers: make(map[string]*life), again: true}
	for _, o := range chain[:len(chain)-1] {
		o.mu.Lock()
		r.before = append(r.before, o.found...) // which it may have been told as it went
		o.mu.Unlock()
	}
	for _, o := range plugins {
		if o.name != p.name || slices.Contains(chain, o) {
			continue
		}
		o.mu.Lock()
		r.before = append(append(r.before, knownBy(o.history)...), o.found...)
		o.mu.Unlock()
		if o.mask != p.mask {
			r.before = append(r.before, anything)
		}
	}
	var history []record
	for i, o := range chain {
		o.mu.Lock()
		next := slices.Clone(o.history)
		o.mu.Unlock()
		if i > 0 && len(next) > 0 {
			r.through(history)
			r.takenOver(next[0])
			history, next = nil, next[1:]
		}
		for _, rec := range next {
			if i > 0 && rec.Late && r.knows(rec.Event) {
				continue // of a creation that took long
			}
			history = append(history, rec)
		}
	}
	return r.through(history)
}

func (r *reading) knows(ev Event) bool {
	if ev.Container != "" {
		return r.containers[ev.Container] != nil
	}
	return r.pods[ev.Pod] != nil
}

// takenOver holds what a successor is synchronized with against what the first was told.
func (r *reading) takenOver(rec record) {
	r.on = true
	for _, o := range rec.listed.Pods {
		switch p := r.pods[o.Pod]; {
		case p == nil:
			r.pods[o.Pod] = &life{listed: true, stopped: o.Stopped, over: o.Stopped}
		case p.removed:
			r.fault("L19", rec, "tells of pod "+o.Pod+", whose end was told")
		case p.over && !o.Stopped:
			p.stopped, p.over = false, false // the name had not heard of it, and has not yet
		case p.stopped != o.Stopped && r.wants(StopPodSandbox):
			r.fault("L19", rec, "tells otherwise of pod "+o.Pod+" than it was told before")
		}
	}
	for _, o := range rec.listed.Containers {
		switch c := r.containers[o.Container]; {
		case c == nil:
			r.containers[o.Container] = &life{listed: true, pod: o.Pod}
		case c.removed || c.stopped && r.wants(StopContainer):
			r.fault("L19", rec, "tells of container "+o.Container+", whose end was told")
		}
	}
}

// handedOver is told of each plugin that leaves.
func (p *process) handedOver(f *simPlugin, reason error) {
	if !p.w.hands && errors.Is(reason, ErrSucceeded) {
		p.w.fault("L19: %s was succeeded, which was not asked for", f.name)
	}
}
