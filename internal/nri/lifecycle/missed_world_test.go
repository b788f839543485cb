// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// What a world knows of names that disconnect and come back (L18): by the plugins that had them,
// one after the other or at the same time.

// drawReturn draws a plugin that comes back, with a temper of its own.
func drawReturn(rt *rapid.T) move {
	n, temper := drawNumber(rt, "who"), drawTemper(rt)
	return func(w *world) {
		var gone []*simPlugin
		for _, p := range w.plugins {
			if p.isClosed() {
				gone = append(gone, p)
			}
		}
		if p := pick(gone, n); p != nil {
			w.comeBack(p, temper)
		}
	}
}

// comeBack connects a plugin again.
func (w *world) comeBack(p *simPlugin, t temper) {
	next := t.plugin(p.name)
	next.wants, next.mask, next.shared = p.wants, p.mask, true
	w.join(next)
}

// drawRestart draws a restart of the runtime, by a kill or an orderly stop, and whether the disk
// is full from then on.
func drawRestart(rt *rapid.T) move {
	rarely := rapid.IntRange(0, 3).Draw(rt, "rarely") == 0
	killed, full := rapid.Bool().Draw(rt, "killed"), rapid.IntRange(0, 9).Draw(rt, "full") == 0
	return func(w *world) {
		if rarely {
			w.restart(killed)
			w.memory.mu.Lock()
			w.memory.fails = full
			w.memory.mu.Unlock()
		}
	}
}

// outlive returns the missed events that are kept when the runtime ends, and notes whether some
// were lost.
func (w *world) outlive(killed bool) *memory {
	w.memory.mu.Lock()
	defer w.memory.mu.Unlock()
	next := newMemory()
	next.now = w.memory.copied(w.memory.now)
	if killed || w.memory.fails {
		next.now = w.memory.copied(w.memory.saved)
		w.lossy = w.lossy || w.memory.fails || w.memory.failedBy > w.memory.savedBy
	}
	next.saved = next.copied(next.now)
	return next
}

// isOver notes the objects that the runtime may forget: their removals were handed in.
func (p *process) isOver(ends []Event) {
	p.do(func() {
		for _, ev := range ends {
			if ev.Kind.Removal() {
				p.w.over[idOf(ev)] = true
			}
		}
	})
}

// idOf names the object of an event, such as "p1" or "p1/c1".
func idOf(ev Event) string {
	if ev.Container != "" {
		return ev.Pod + "/" + ev.Container
	}
	return ev.Pod
}

// survive notes what the runtime finds after a restart: each connected plugin may have known it.
// Only a journal of sent requests can tell the end of an object that the runtime does not find,
// and whose removal was not handed in.
func (w *world) survive() {
	var found []string
	for id := range w.pods {
		found = append(found, id)
	}
	for id, c := range w.containers {
		found = append(found, c.pod+"/"+id)
	}
	w.cut = nil
	for _, p := range w.plugins {
		p.mu.Lock()
		p.found = append(p.found, found...)
		for _, id := range known(p.history) {
			switch {
			case slices.Contains(found, id), w.isGone(id):
			case w.harsh != nil:
				w.cut = append(w.cut, cutShort{p.name, id})
			default:
				w.lost[id] = true
			}
		}
		p.mu.Unlock()
	}
}

// isGone reports whether the removal of an object, or of its pod, was handed in.
func (w *world) isGone(id string) bool {
	pod, _, _ := strings.Cut(id, "/")
	return w.over[id] || w.over[pod]
}

// A cutShort is an object that a plugin received, and in whose creation the runtime was killed.
type cutShort struct{ name, id string }

// journaled is what the journal has at the start of a runtime.
func (w *world) journaled(yield func(string, Object) bool) {
	for _, c := range w.cut {
		var o Object
		o.Pod, o.Container, _ = strings.Cut(c.id, "/")
		if !yield(c.name, o) {
			return
		}
	}
}

// known are the objects that a history has in Synchronize or in events other than ends.
func known(history []record) (ids []string) {
	return knownBy(slices.DeleteFunc(slices.Clone(history), func(r record) bool { return r.Kind.Final() }))
}

// knownBy are the objects of a history.
func knownBy(history []record) (ids []string) {
	for _, r := range history {
		for _, o := range r.listed.Pods {
			ids = append(ids, o.Pod)
		}
		for _, o := range r.listed.Containers {
			ids = append(ids, o.Pod+"/"+o.Container)
		}
		switch {
		case r.Container != "":
			ids = append(ids, r.Pod+"/"+r.Container)
		case r.Pod != "":
			ids = append(ids, r.Pod)
		}
	}
	return ids
}

// anything stands for all objects. A name may know any object if one of its connections did not
// receive all events: the engine remembers objects whose first event has no subscription.
const anything = "*"

// read reads the history of a plugin. Its name may have had connections before.
func (w *world) read(p *simPlugin) *reading {
	if r := w.readOn(p); r != nil {
		return r
	}
	if !w.keeps && !w.hands {
		p.mu.Lock()
		defer p.mu.Unlock()
		return read(p.history, p.wants)
	}
	var before []string
	for _, o := range w.plugins {
		if o != p && o.name == p.name {
			o.mu.Lock()
			before = append(append(before, knownBy(o.history)...), o.found...)
			o.mu.Unlock()
			if o.mask != p.mask {
				before = append(before, anything)
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return readAgain(p.history, p.wants, before)
}

// answers keeps what a plugin has answered.
func (p *simPlugin) answers(ev Event, answer func(any, error)) func(any, error) {
	return func(reply any, err error) {
		p.mu.Lock()
		p.cut = p.cut || p.isClosed() || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
		switch {
		case err == nil || !p.isClosed():
			p.answered = append(p.answered, ev)
		case errors.Is(err, ErrClosed) && ev.Kind.First():
			p.found = append(p.found, known([]record{{Event: ev}})...) // the sender cannot know
		}
		p.mu.Unlock()
		if err == nil {
			reply = p.process.w.harsh.track(p, ev, reply)
		}
		answer(reply, err)
	}
}

// unheard returns the ends that a name never received, now that all objects have ended and all
// names have come back.
func (w *world) unheard() (faults []string) {
	if !w.keeps || w.lossy {
		return nil
	}
	for _, p := range w.plugins {
		if p.joined.IsZero() || w.duplicates[p.name] {
			continue
		}
		p.mu.Lock()
		ids := known(p.history)
		p.mu.Unlock()
		for _, id := range ids {
			ev := event("StopPodSandbox:" + id)
			ends := []Kind{StopPodSandbox, RemovePodSandbox}
			if ev.Container != "" {
				ends = []Kind{StopContainer, RemoveContainer}
			}
			for _, ev.Kind = range ends {
				if p.wants(ev.Kind) && !w.lost[id] && !w.harsh.excuses(p, id) && !w.abandoned[p.name+" "+record{Event: ev}.String()] && !w.heardOf(p, ev) {
					faults = append(faults, fmt.Sprintf("L18: no plugin of the name %s has answered %s", p.name, record{Event: ev}))
				}
			}
		}
	}
	return faults
}

// heardOf reports whether a plugin of the name has answered an end, or the runtime listed it as
// over.
func (w *world) heardOf(p *simPlugin, ev Event) bool {
	return slices.ContainsFunc(w.plugins, func(o *simPlugin) bool {
		if o.name != p.name {
			return false
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.mask != p.mask || slices.ContainsFunc(o.answered, func(a Event) bool { return a.Same(&ev) }) ||
			ev.Kind == StopPodSandbox && slices.ContainsFunc(o.history, func(r record) bool {
				return slices.ContainsFunc(r.listed.Pods, func(l Object) bool { return l.Pod == ev.Pod && l.Stopped })
			}) && !slices.ContainsFunc(o.history, func(r record) bool { return r.Same(&ev) })
	})
}

// allComeBack has each disconnected name come back.
func (w *world) allComeBack() {
	for _, p := range slices.Clone(w.plugins) {
		if !slices.ContainsFunc(w.here(), func(o *simPlugin) bool { return o.name == p.name }) {
			w.comeBack(p, temper{wants: "everything"})
			w.settle()
		}
	}
}

// recall is what the runtime does when it starts.
func (p *process) recall(ctx context.Context) {
	err := p.engine.Recall(ctx)
	switch {
	case errors.Is(err, errNoList):
		p.w.unknowing()
	case err != nil:
		p.w.fault("L18: %v", err)
	}
}
