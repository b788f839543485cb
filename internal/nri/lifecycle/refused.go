// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"slices"
)

// An update is refused if a plugin rejects it, its caller cancels, or the runtime fails it. The
// plugins that have received it then receive what holds (L26): the same event with the values that
// the pod or container has when they receive it. No caller waits for that, and more than one
// refusal makes one event. So what holds has no request before it is sent.

// refused tells the plugins that this question has asked what holds, except one that has rejected
// the update.
func (q *question) refused() {
	for _, r := range q.updates {
		if !r.rejected() {
			r.lane.tell(q.event)
		}
	}
}

// rejected reports whether the plugin has answered with an error.
func (r *request) rejected() bool {
	r.lane.mu.Lock()
	defer r.lane.mu.Unlock()
	return r.answered && r.err != nil && !errors.Is(r.err, ErrClosed)
}

// Refused tells plugins what a pod or container has after the runtime failed an update to which
// they have agreed. The Request of the event is not read.
func (e *Engine) Refused(ev Event) error {
	if !ev.Kind.Updates() {
		return fmt.Errorf("%s is not an update", ev)
	}
	for _, l := range e.asked(ev) {
		l.tell(ev)
	}
	return nil
}

// tell puts an event that says what holds in the line, if it is not there.
func (l *lane) tell(update Event) {
	if l.engine.opts.Holds == nil {
		return
	}
	l.mu.Lock()
	s := l.session
	if s == nil || !s.subscribed(update.Kind) {
		l.mu.Unlock()
		return
	}
	l.noteUpdate(update)
	e := whatHolds(update)
	if slices.ContainsFunc(l.line.entries, func(w entry) bool { return w.late != nil && w.late.Same(e.late) }) {
		l.mu.Unlock()
		return
	}
	full := l.push(e)
	l.resume()
	l.mu.Unlock()
	if full != nil {
		l.engine.drop(s, full)
	}
}

// whatHolds is the entry of an event that says what the object of an update has.
func whatHolds(update Event) entry {
	return entry{late: &Event{Kind: update.Kind, Pod: update.Pod, Container: update.Container, Late: true}}
}

// holds adds what the pod or container has to an event that says what holds, and reports whether it
// is still to be sent. The caller holds the turn and l.mu; l.mu is released in between.
func (l *lane) holds(ev *Event) bool {
	l.mu.Unlock()
	ev.Request = l.engine.opts.Holds(*ev)
	l.mu.Lock()
	if l.paused() { // the session has left meanwhile
		l.line.putBack(whatHolds(*ev))
		return false
	}
	return ev.Request != nil
}

// noteUpdate notes the object of an update that the connection receives while its successor is
// synchronized: the successor may have received the object as it was before. l.mu is held.
func (l *lane) noteUpdate(update Event) {
	if n := l.next; n != nil && l.engine.opts.Holds != nil && !slices.ContainsFunc(n.updated, func(ev Event) bool { return ev.Same(&update) }) {
		n.updated = append(n.updated, *whatHolds(update).late)
	}
}

// whatChanged returns what a successor must still receive of objects that were updated meanwhile.
func (s *session) whatChanged() (late []entry) {
	s.lane.mu.Lock()
	defer s.lane.mu.Unlock()
	for _, ev := range s.updated {
		if s.subscribed(ev.Kind) {
			late = append(late, whatHolds(ev))
		}
	}
	s.updated = nil
	return late
}
