// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// If a plugin of a connected name registers again, and Options.HandOver says so, the new
// connection is the successor of the first (L19). It takes over the lane with its line, its
// ledger, and the missed ends of the name:
//
//   - When the first has answered its current request, the line is paused, for no longer than
//     half a request timeout, so that a stop has time left for its answer. Meanwhile the
//     runtime lists for the successor, and the successor is synchronized. It then knows what
//     the first knows, because the first receives nothing meanwhile.
//   - When the successor has answered Synchronize, the first is closed, and the line goes on.
//
// If the successor takes longer, or its last try failed, it is synchronized while the first
// receives events. When it has answered, the line is paused again, for a second list. Then the
// successor receives late the listed objects that the first knows and it does not know.
//
// If the successor fails, the first goes on as before. If the first leaves earlier, the
// successor has the lane at once, and joins as any other connection.
//
// If many connections wait for the lane, the newest comes next. A connection with the origin of
// a predecessor of the present session, see Options.Origin, waits until that session leaves: a
// plugin that was succeeded and restarts does not take turns with its successor.

// ErrSucceeded is why a connection is dropped after its successor has taken over.
var ErrSucceeded = errors.New("a newer connection of the plugin has taken over")

// errNewer is why a connection is dropped that waits while a newer one of its name registers.
var errNewer = errors.New("a newer connection of the plugin registered before this one was synchronized")

// A place says which session has a lane, and which sessions wait for it.
type place struct {
	// Changed with Engine.mu and the lane's lock held, and read with either.
	session *session // nil while the plugin is disconnected
	next    *session // its successor that is joining, nil if none

	// Guarded by Engine.mu.
	waiters []*session    // sessions that cannot be next yet, in the order in which they registered
	changed chan struct{} // closed at the next change of the place, nil if no session waits
	origins []string      // of the predecessors of the session
}

// changes wakes the sessions that wait. Engine.mu is held.
func (p *place) changes() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// A hold pauses the line of a lane for the successor of its session.
type hold struct {
	granted chan struct{} // closed once the line is paused, or the successor has the lane
	is      bool          // whether granted is closed; the lane's lock guards it
}

func (h *hold) grant() {
	if !h.is {
		h.is = true
		close(h.granted)
	}
}

// comeIn finds the lane of a connection, and returns when the connection has it, or is the next
// to have it.
func (e *Engine) comeIn(ctx context.Context, s *session) error {
	waits := false
	for {
		e.mu.Lock()
		l := e.names[s.name]
		if s.closed != nil || e.closed {
			if l != nil {
				l.leaves(s)
			}
			e.mu.Unlock()
			return ErrClosed
		}
		if l != nil && l.session != nil && l.session.lost() {
			first := l.session
			e.mu.Unlock()
			e.drop(first, ErrClosed) // its watcher has not noticed yet
			continue
		}
		if e.placed(s, l) {
			e.mu.Unlock()
			return nil
		}
		older := l.queue(s)
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		e.mu.Unlock()
		for _, o := range older {
			e.drop(o, errNewer)
		}
		if !waits {
			waits = true
			e.opts.Waits(s.conn)
		}
		var err error
		select {
		case <-changed:
			continue
		case <-s.gone:
			err = s.closed
		case <-ctx.Done():
			err = ctx.Err()
		}
		e.mu.Lock()
		l.leaves(s)
		e.mu.Unlock()
		return err
	}
}

// placed makes a connection the session or the next session of a lane, and reports whether
// that was possible. mu is held.
func (e *Engine) placed(s *session, l *lane) bool {
	next := false
	switch {
	case l == nil:
		l = e.newLane(s.name, s.index)
		l.own = true
		e.names[s.name] = l
	case l.session == nil:
		l.origins = nil
	case !s.hands || !l.session.hands:
		l = e.newLane(s.name, s.index) // beside that of its duplicate
	case l.next != nil || !l.serves() || l.standsBack(s):
		return false
	default:
		next = true
	}
	l.leaves(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	s.lane = l // before anyone finds it there
	_, s.failed = e.failed[s.name]
	if next {
		l.next = s
	} else {
		l.session = s
	}
	return true
}

func (e *Engine) newLane(name, index string) *lane {
	l := &lane{engine: e, name: name, index: index, ledger: ledger.New()}
	e.lanes = insert(e.lanes, l)
	return l
}

// queue lets a connection wait, and returns the connections that must no longer wait: only the
// newest waits of each origin, and of all that do not stand back. Engine.mu is held.
func (p *place) queue(s *session) (older []*session) {
	if !slices.Contains(p.waiters, s) {
		p.waiters = append(p.waiters, s)
	}
	back := p.standsBack(s)
	for _, o := range p.waiters {
		if o.nth < s.nth && (o.origin == s.origin || !back && !p.standsBack(o)) {
			older = append(older, o)
		}
	}
	return older
}

// leaves takes a connection out of the waiters. Engine.mu is held.
func (p *place) leaves(s *session) {
	p.waiters = slices.DeleteFunc(p.waiters, func(o *session) bool { return o == s })
}

// origins is how many origins of predecessors a name remembers.
const origins = 16

// standsBack reports whether a connection must wait until the present session leaves, because
// that has succeeded a session of the same origin. Engine.mu is held.
func (p *place) standsBack(s *session) bool {
	return s.origin != "" && slices.Contains(p.origins, s.origin)
}

// remember records the origins of the predecessors of a successor, without its own. Engine.mu is
// held.
func (p *place) remember(first, successor *session) {
	var gone []string
	for _, o := range append(p.origins, first.origin) {
		if o != "" && o != successor.origin && !slices.Contains(gone, o) {
			gone = append(gone, o)
		}
	}
	p.origins = gone[max(0, len(gone)-origins):]
}

// holdFor asks for a hold for a successor. It is granted when the entries are served that have
// waited for the present session. holdFor returns nil if the successor has the lane.
func (l *lane) holdFor(s *session) *hold {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next != s {
		return nil
	}
	h := &hold{granted: make(chan struct{})}
	if l.overdue() || l.hold != nil && l.hold.is { // paused already; the old hold may be released
		h.grant()
	}
	l.hold = h
	l.resume() // grants it if the line is idle
	return h
}

// isNext reports whether a connection is the next to have the lane.
func (l *lane) isNext(s *session) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next == s
}

// serves reports whether the connection that has the lane receives events.
func (l *lane) serves() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session.begun
}

// serving returns the connection that has the lane, if it is synchronized.
func (l *lane) serving() *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil || !l.session.joined {
		return nil
	}
	return l.session
}

// release resumes the line because the successor takes too long.
func (l *lane) release(h *hold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h != nil && l.hold == h {
		l.next.gap, l.hold = true, nil
		l.resume()
	}
}

// pauseLine pauses the line for a successor, and returns when it is paused, or the successor has
// the lane.
func (s *session) pauseLine(ctx context.Context) (*hold, error) {
	h := s.lane.holdFor(s)
	if h == nil {
		return nil, nil
	}
	select {
	case <-h.granted:
		return h, nil
	case <-s.gone:
		return nil, s.closed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// holding is how long a hold pauses the line at most.
func (l *lane) holding() time.Duration { return l.engine.opts.RequestTimeout() / 2 }

// succeed synchronizes the connection that is the next to have a lane, and gives it the lane.
func (e *Engine) succeed(ctx context.Context, s *session, sync func(context.Context, Snapshot) error) (Snapshot, error) {
	l := s.lane
	if s.failed {
		l.mu.Lock()
		s.gap = true // it costs one timeout, not one for each return (L22)
		l.mu.Unlock()
	} else {
		h, err := s.pauseLine(ctx)
		if err != nil {
			return Snapshot{}, err
		}
		defer time.AfterFunc(l.holding(), func() { l.release(h) }).Stop()
	}
	received, err := e.synchronize(ctx, s, sync)
	if err != nil {
		return Snapshot{}, err
	}
	if _, err := s.pauseLine(ctx); err != nil {
		return Snapshot{}, err
	}
	now := received
	var late []entry
	if s.hasGap() {
		if now, late, err = e.missedSince(ctx, s, received); err != nil {
			return Snapshot{}, err
		}
	}
	e.takeOver(s)
	return received, e.takePart(s, received, now, late)
}

func (s *session) hasGap() bool {
	s.lane.mu.Lock()
	defer s.lane.mu.Unlock()
	return s.gap
}

// shown returns the Synchronize of a connection. For a successor, a stopped pod whose Stop it
// will receive is not stopped yet.
func (l *lane) shown(s *session, received Snapshot) Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next != s && s.after == nil {
		return received
	}
	received.Pods = slices.Clone(received.Pods)
	for i := range received.Pods {
		p := &received.Pods[i]
		p.Stopped = p.Stopped && !l.ledger.GoesOn(p.ID())
	}
	return received
}

// takeOver gives a successor the lane, if the first still has it.
func (e *Engine) takeOver(s *session) {
	gone := s.lost()
	e.mu.Lock()
	if l := s.lane; l.next != s || gone {
		e.mu.Unlock()
		return
	}
	e.end(s.lane.session, fmt.Errorf("%w: %w", ErrSucceeded, ErrClosed))
}

// missedSince takes a second inventory for a successor that was synchronized while the first went
// on. It returns what exists now, and the first events that the successor has missed. The line is
// paused, so it waits no longer than for a Synchronize.
func (e *Engine) missedSince(ctx context.Context, s *session, received Snapshot) (now Snapshot, late []entry, err error) {
	l := s.lane
	taken, err := e.list(ctx, s, e.opts.SyncTimeout())
	if err != nil {
		return Snapshot{}, nil, err
	}
	now = taken.correct()
	there := now.Index()
	e.mu.Lock()
	defer e.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	knew := ledger.Synchronized(received, ledger.New())
	began := func(kind Kind, objects []Object) {
		for _, o := range objects {
			switch {
			case knew.Knows(o.ID()), !l.ledger.GoesOn(o.ID()):
				continue
			case e.underWay(o.ID()): // it is asked, or receives the event late
				continue
			case e.ended.stage(o.ID()) != alive: // it ended while the line was paused
				continue
			}
			ev := Event{Kind: kind, Pod: o.Pod, Container: o.Container, Late: true}
			ev.Request = e.opts.Begun(ev, there[ledger.ID{Pod: o.Pod}].Value, o.Value)
			late = append(late, entry{late: &ev, weight: e.opts.Weigh(ev)})
		}
	}
	began(RunPodSandbox, now.Pods)
	began(CreateContainer, now.Containers)
	return now, late, nil
}

// answeredBy returns the Synchronize of a successor, in which a pod that the first has approved
// is not in creation: the successor does not receive its RunPodSandbox. l.mu is held.
func (l *lane) answeredBy(received Snapshot) Snapshot {
	received.Pods = slices.Clone(received.Pods)
	for i := range received.Pods {
		p := &received.Pods[i]
		p.Creating = p.Creating && !l.ledger.Begun(p.Pod)
	}
	return received
}

// ended returns the ends that a successor must receive for objects in its Synchronize, containers
// first: objects whose end the first has received since, and objects that the first does not know
// and that no longer exist. An object that does not exist and is in creation, or whose
// container is, is left out: it ends or vanishes with its creation. The locks of the engine
// and of the lane are held.
func (l *lane) ended(received, now Snapshot) (ends []Event) {
	creating := make(map[ledger.ID]bool)
	for id := range l.engine.creations {
		creating[id], creating[ledger.ID{Pod: id.Pod}] = true, true
	}
	there := ledger.Synchronized(now, ledger.New())
	for _, o := range now.Exited {
		there.Know(o.ID(), false)
	}
	for _, o := range slices.Concat(received.Containers, received.Pods) {
		known := there
		if l.ledger.Knows(o.ID()) {
			known = l.ledger
		}
		var ev Event
		switch {
		case !known.Knows(o.ID()) && creating[o.ID()]:
			continue
		case !known.Knows(o.ID()):
			ev = o.ID().Removal()
		case !o.Stopped && !known.GoesOn(o.ID()):
			ev = o.ID().Stop()
		default:
			continue
		}
		ev.Request = l.engine.opts.ImpliedEnd(ev.Kind, ev.Container, Event{Pod: ev.Pod, Container: ev.Container, Request: o.Value})
		ends = append(ends, ev)
	}
	return ends
}
