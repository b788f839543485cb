// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"slices"
)

// What a world knows of names that are handed over (L19): a connection and the one that it
// succeeds have the history of one.

// A handed says which connection a plugin has succeeded. world.mu guards it.
type handed struct {
	after *simPlugin // the connection that it has succeeded, nil if none
	whole bool       // after received nothing more once this one was synchronized
}

// follows notes that a plugin has joined. It may have succeeded another one.
func (p *process) follows(s *simPlugin) {
	first, behind := p.engine.turnedTo(s)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if first == nil {
		return
	}
	f := first.(*simPlugin)
	f.mu.Lock()
	answered := len(f.answered) == len(f.history)-1 && !f.cut
	f.mu.Unlock()
	prompt := f.overdue.Before(s.came) // else it may answer after its successor received the request
	s.handed = handed{f, !behind && answered && prompt && f.mask == s.mask && !s.forgot}
	// A list may have to wait for the runtime's own lock.
	if behind && p.w.runtime == patched && s.synchronize == nil && 2*p.lists < requestTimeout/2 && !slices.ContainsFunc(p.w.plugins, func(o *simPlugin) bool { return o.name == s.name && o.joined.IsZero() && o != s }) {
		p.w.faults = append(p.w.faults, fmt.Sprintf("L19: %s received events, though its successor was synchronized at once", s.name))
	}
	if s.handed.whole {
		p.w.tookAll(s, f)
	}
}

// tookAll expects that a successor receives all objects that exist and that the first knew: by
// its Synchronize or, if they were being created, late. world.mu is held.
func (w *world) tookAll(s, f *simPlugin) {
	must := func(pod, container string, over func() bool) {
		if over() || !f.knows(pod, container) {
			return
		}
		what := record{Event: Event{Kind: RunPodSandbox, Pod: pod, Container: container}}
		w.duties = append(w.duties, duty{s, fmt.Sprintf("L19: took over and did not receive %s", what), func() bool {
			return s.knows(pod, container) || over()
		}})
	}
	for id := range w.pods {
		must(id, "", func() bool { return w.pods[id] == nil || w.pods[id].stopping })
	}
	for id, c := range w.containers {
		must(c.pod, id, func() bool {
			return w.containers[id] == nil || c.exited || c.removed || w.pods[c.pod] == nil || w.pods[c.pod].stopping
		})
	}
}

// turnedTo returns the connection that a connection has succeeded, if any, and whether that one
// received events after the Synchronize of its successor had begun.
func (e *Engine) turnedTo(c Connection) (from Connection, behind bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.lanes {
		l.mu.Lock()
		if s := l.session; s != nil && s.conn == c {
			from, behind = s.after, s.gap
		}
		l.mu.Unlock()
	}
	return from, behind
}

// turned returns what a plugin received after its successor had received an event.
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
			faults = append(faults, fmt.Sprintf("L19: %s receives %s after its successor has received events", p.name, rec))
		}
	}
	return faults
}

// readOn reads the history of a plugin that took over with nothing missed: as that of one
// connection, together with those before it. It returns nil for any other plugin.
func (w *world) readOn(p *simPlugin) *reading {
	w.mu.Lock()
	chain := []*simPlugin{p}
	for f := chain[0].handed.after; chain[0].handed.whole && f.leftWhole(); f = chain[0].handed.after {
		chain = slices.Insert(chain, 0, f)
	}
	plugins := slices.Clone(w.plugins)
	w.mu.Unlock()
	if len(chain) == 1 {
		return nil
	}
	r := &reading{wants: p.wants, pods: make(map[string]*life), containers: make(map[string]*life), again: true}
	for _, o := range chain[:len(chain)-1] {
		o.mu.Lock()
		r.before = append(r.before, o.found...) // which it may have received as it disconnected
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

// takenOver holds the Synchronize of a successor against what the first received.
func (r *reading) takenOver(rec record) {
	r.on = true
	for _, o := range rec.listed.Pods {
		switch p := r.pods[o.Pod]; {
		case p == nil:
			r.pods[o.Pod] = &life{listed: true, stopped: o.Stopped, over: o.Stopped}
		case p.removed:
			r.fault("L19", rec, "lists pod "+o.Pod+", whose end was delivered")
		case p.over && !o.Stopped:
			p.stopped, p.over = false, false // the name did not receive its Stop, and still has to
		case p.stopped != o.Stopped && r.wants(StopPodSandbox):
			r.fault("L19", rec, "lists pod "+o.Pod+" in a state that contradicts what was delivered")
		}
	}
	for _, o := range rec.listed.Containers {
		switch c := r.containers[o.Container]; {
		case c == nil:
			r.containers[o.Container] = &life{listed: true, pod: o.Pod}
		case c.removed || c.stopped && r.wants(StopContainer):
			r.fault("L19", rec, "lists container "+o.Container+", whose end was delivered")
		}
	}
}

// leftWhole reports whether a plugin left in order or by itself: if it was dropped for another
// reason, it may have answered after its answer counted no more. world.mu is held.
func (p *simPlugin) leftWhole() bool {
	return errors.Is(p.reason, ErrClosed)
}

// handedOver notes that a plugin has left.
func (p *process) handedOver(f *simPlugin, reason error) {
	p.w.mu.Lock()
	f.reason = reason
	p.w.mu.Unlock()
	if !p.w.hands && errors.Is(reason, ErrSucceeded) {
		p.w.fault("L19: %s was succeeded, though names are not handed over", f.name)
	}
}
