// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// With Options.TakeBack a plugin that may have other values of a pod or container than the runtime
// receives what holds (L26): an update without content, for which no caller waits. The connection
// reads the content when it delivers the update.
//
// An update is under way from its Ask until that fails, or until the runtime ends it: with the
// event that follows an update, or with Refused. Meanwhile the runtime may have the old values or
// the new ones, so plugins receive what holds when no update of the object is under way. These do:
//
//   - those that received an update that did not hold, and did not reject it, and those that received
//     one of two updates that overlapped;
//   - those that an update went on without: it was not sent to them, or they answered too late;
//   - those for which the runtime listed the object meanwhile, and that were not asked;
//   - those that were about to receive what holds when the update began. It may change only a part.
type updates struct {
	// mu guards what follows. No other lock is taken under it.
	mu       sync.Mutex
	underWay map[ledger.ID]*changing
}

// changing is an object that is being updated.
type changing struct {
	updates   int
	unclear   bool // whether one did not hold, or two overlapped
	knows     map[*session]knowledge
	postponed []message
}

// A message is a late event without content for one connection.
type message struct {
	to   *session
	late Event
}

// knowledge is what a connection has of an object that is being updated.
type knowledge int

const (
	untouched knowledge = iota // what it had before
	unsure                     // the old values or the new ones
	agreed                     // the new values
	outdated                   // neither: it missed an update, or its answer came too late
)

// note notes what a connection has, if it did not note more about it before. updates.mu is held.
func (c *changing) note(k knowledge, sessions ...*session) {
	for _, s := range sessions {
		c.knows[s] = max(c.knows[s], k)
	}
}

// begin notes that an update is under way, and which connections may have listed the old values.
func (u *updates) begin(o ledger.ID, listing []*session) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c := u.underWay[o]
	if c == nil {
		c = &changing{knows: make(map[*session]knowledge)}
		u.underWay[o] = c
	}
	c.updates++
	c.unclear = c.unclear || c.updates > 1
	c.note(unsure, listing...)
}

// list notes connections for which the runtime lists objects that are being updated.
func (u *updates) list(sessions []*session) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, c := range u.underWay {
		c.note(unsure, sessions...)
	}
}

// asked notes what plugins have after an update was sent to them, or went on without them.
func (u *updates) asked(o ledger.ID, k knowledge, sessions []*session) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c := u.underWay[o]; c != nil {
		c.note(k, sessions...)
	}
}

// postpone reports whether an update of the object is under way. A connection that was about to
// receive what holds then receives it later.
func (u *updates) postpone(late Event, to *session) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	c := u.underWay[late.ID()]
	if c == nil {
		return false
	}
	if m := (message{to, late}); !slices.Contains(c.postponed, m) {
		c.postponed = append(c.postponed, m)
	}
	return true
}

// end ends an update. If no other is under way, it returns what connections must receive: late to
// those that may have other values, and what was postponed.
func (u *updates) end(late Event, held bool) (all []message) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c := u.underWay[late.ID()]
	if c == nil {
		return nil
	}
	c.unclear = c.unclear || !held
	c.updates--
	if c.updates > 0 {
		return nil
	}
	delete(u.underWay, late.ID())
	for s, knows := range c.knows {
		if c.unclear || knows != agreed {
			all = append(all, message{s, late})
		}
	}
	for _, m := range c.postponed {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

// drop forgets the updates of a pod or container that ends.
func (u *updates) drop(end Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for o := range u.underWay {
		if o.Pod == end.Pod && (end.Container == "" || o.Container == end.Container) {
			delete(u.underWay, o)
		}
	}
}

// update asks the plugins for an update. Without Options.TakeBack nothing says what holds, so those
// that the update was not sent to receive it late.
func (q *question) update() error {
	e, o := q.engine, q.event.ID()
	if !e.opts.TakeBack {
		err := q.askInTurn()
		if err == nil {
			q.sendLate()
		}
		return err
	}
	e.beginUpdate(o)
	err := q.askInTurn()
	accepted, open := q.answers()
	e.updates.asked(o, agreed, accepted)
	e.updates.asked(o, unsure, open)
	if err == nil {
		e.updates.asked(o, outdated, q.without)
	} else {
		e.endUpdate(q.event, false)
	}
	return err
}

// sendLate sends an update to the connections that it went on without, and was not sent to.
func (q *question) sendLate() {
	late := q.event
	late.Late = true
	for _, s := range q.without {
		if !slices.ContainsFunc(q.sent, func(r *request) bool { return r.session == s }) {
			s.lane.tell(s, late)
		}
	}
}

// answers returns the connections that have agreed to the update, and those that have received it
// and not answered.
func (q *question) answers() (accepted, open []*session) {
	for _, r := range q.sent {
		r.lane.mu.Lock()
		answered, err := r.answered, r.err
		r.lane.mu.Unlock()
		switch {
		case !answered:
			open = append(open, r.session)
		case err == nil:
			accepted = append(accepted, r.session)
		}
	}
	return accepted, open
}

// beginUpdate notes an update. A successor that was listed for is not asked before it has the lane.
func (e *Engine) beginUpdate(o ledger.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	listing := slices.Clone(e.listing)
	for _, l := range e.lanes {
		if l.next != nil && l.next.seq != 0 {
			listing = append(listing, l.next)
		}
	}
	e.updates.begin(o, listing)
}

// endUpdate ends an update that is under way, and tells the plugins what holds that must know it.
func (e *Engine) endUpdate(ev Event, held bool) {
	late := Event{Kind: UpdateContainer, Pod: ev.Pod, Container: ev.Container, Late: true}
	if ev.Container == "" {
		late.Kind = UpdatePodSandbox
	}
	for _, m := range e.updates.end(late, held) {
		m.to.lane.tell(m.to, m.late)
	}
}

// Tell sends an event without content that follows an update of a container, PostUpdateContainer, to
// the plugin of a connection alone, which asked for this update (L27). If the plugin has connected
// again, or hands over, its other connection receives the event, too.
func (e *Engine) Tell(conn Connection, pod, container string) {
	late := Event{Kind: PostUpdateContainer, Pod: pod, Container: container, Late: true}
	for _, s := range e.sameAs(conn) {
		s.lane.tell(s, late)
	}
}

// sameAs returns the sessions in the lane of a connection or, if it has no lane, those of its name.
func (e *Engine) sameAs(conn Connection) (all []*session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var of *lane
	for s := range e.sessions {
		if s.conn == conn && s.closed == nil {
			of = s.lane
		}
	}
	for s := range e.sessions {
		named := s.name == conn.Name() && s.index == conn.Index()
		if s.lane != nil && named && (of == nil || s.lane == of) {
			all = append(all, s)
		}
	}
	return all
}

// Refused ends an update to which plugins have agreed, and which the runtime has failed. The Request
// of the event is not read.
func (e *Engine) Refused(ev Event) error {
	if !ev.Kind.Updates() {
		return fmt.Errorf("%s is not an update", ev)
	}
	e.endUpdate(ev, false)
	return nil
}

// tell puts a late event in the line of a connection, which has no more than one without content of
// each kind for an object. A successor receives it when it has the lane.
func (l *lane) tell(s *session, late Event) {
	if !s.subscribed(late.Kind) {
		return
	}
	e := entry{late: &late, weight: l.engine.opts.Weigh(late)}
	l.mu.Lock()
	switch {
	case l.next == s && !has(s.updated, e):
		s.updated = append(s.updated, e)
	case l.session == s && !has(l.line.entries, e):
		full := l.push(e)
		l.resume()
		if full != nil {
			l.mu.Unlock()
			l.engine.drop(s, full)
			return
		}
	}
	l.mu.Unlock()
}

// has reports whether a late event without content is among entries.
func has(entries []entry, e entry) bool {
	return e.late.Request == nil && slices.ContainsFunc(entries, func(o entry) bool { return o.late != nil && o.late.Same(e.late) })
}

// whatChanged puts what a successor that has the lane must still receive of objects that were
// updated meanwhile behind the events that it inherits. l.mu is held.
func (l *lane) whatChanged(s *session) {
	for _, e := range s.updated {
		if !has(l.line.entries, e) {
			l.line.push(e)
		}
	}
	s.updated = nil
}
