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

// A connection of a name that has one is its successor, where Options.HandOver says so
// (L19). It waits for the place of the first in the lane, and has then its line, its
// ledger, and what the name has missed:
//
//   - When the first has answered what it is at, the line stands, for no longer than half
//     a request timeout, so that a stop has time left for its answer. Meanwhile the
//     runtime lists for the successor, and that is synchronized: what it is told is what
//     the first knows, for nothing is sent to that.
//   - When it has answered, the first is closed, and the line goes on.
//
// One that takes longer, or whose last try failed, is synchronized while the first is
// sent events. When it has answered, the line stands once more, for the time of a second
// list: what that and the first know, and the successor was not told of, it is told late.
//
// If it fails, the first goes on as if it had never come. If the first goes before, the
// successor has the place at once, and joins as any other.
//
// Of many that register the newest comes next. One that comes from where a predecessor of the present
// connection came from, see Options.Origin, waits until that one leaves: a plugin that
// was told to go and is started again does not take turns with its successor.

// ErrSucceeded is why a connection is dropped whose successor has taken over.
var ErrSucceeded = errors.New("a newer connection of the plugin has taken over")

// errNewer is why a connection is dropped that has not been synchronized when
// another one of its name comes.
var errNewer = errors.New("another connection of the plugin has come before it was synchronized")

// A place says which session has a lane, and which sessions wait for it.
type place struct {
	// Changed with Engine.mu and the lane's lock held, and read with either.
	session *session // nil while the plugin is disconnected
	next    *session // that is to succeed it, nil if none

	// Guarded by Engine.mu.
	waiters []*session    // that cannot be next yet, in the order in which they came
	changed chan struct{} // closed at the next change of who has the lane, nil if nobody waits
	origins []string      // of the predecessors of the session
}

// changes tells those who wait. Engine.mu is held.
func (p *place) changes() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// A hold keeps the turn of a lane, for the successor of its session.
type hold struct {
	granted chan struct{} // closed once it is had, or the successor has the lane
	is      bool          // whether it is; the lane's lock guards it
}

func (h *hold) grant() {
	if !h.is {
		h.is = true
		close(h.granted)
	}
}

// comeIn finds a connection its lane, and returns when it has that, or is the next
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
			e.drop(first, ErrClosed) // as its watcher has yet to see
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

// placed gives a connection its lane, or the next place in it, and says whether there
// was one. mu is held.
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
		l = e.newLane(s.name, s.index) // beside the other
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

// queue has a connection wait, and returns those that wait no longer for it: of one
// origin, and of all that do not stand back, the newest does. Engine.mu is held.
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

// leaves takes a connection out of those that wait. Engine.mu is held.
func (p *place) leaves(s *session) {
	p.waiters = slices.DeleteFunc(p.waiters, func(o *session) bool { return o == s })
}

// origins is how many places a name remembers from which predecessors came.
const origins = 16

// standsBack says whether a connection waits until the present one leaves: that has
// succeeded one from the same origin. Engine.mu is held.
func (p *place) standsBack(s *session) bool {
	return s.origin != "" && slices.Contains(p.origins, s.origin)
}

// remember notes where the predecessors of a successor came from. It is itself none of
// them. Engine.mu is held.
func (p *place) remember(first, successor *session) {
	var gone []string
	for _, o := range append(p.origins, first.origin) {
		if o != "" && o != successor.origin && !slices.Contains(gone, o) {
			gone = append(gone, o)
		}
	}
	p.origins = gone[max(0, len(gone)-origins):]
}

// holdFor wants the line to stand for a successor, once those are served that have waited for
// the present session. It returns nil if the successor has the lane.
func (l *lane) holdFor(s *session) *hold {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next != s {
		return nil
	}
	h := &hold{granted: make(chan struct{})}
	if l.overdue() || l.hold != nil && l.hold.is { // it stands already, by one that may be released
		h.grant()
	}
	l.hold = h
	l.resume() // an idle line finds it
	return h
}

// isNext says whether a connection is the next to have the lane.
func (l *lane) isNext(s *session) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next == s
}

// serves says whether the connection that has the lane is told of events.
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

// release lets the line go on while the successor of its session takes its time.
func (l *lane) release(h *hold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h != nil && l.hold == h {
		l.next.gap, l.hold = true, nil
		l.resume()
	}
}

// stand has the line stand for a successor, and returns when it does, or the successor has
// the lane.
func (s *session) stand(ctx context.Context) (*hold, error) {
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

// holding is how long the line stands at most.
func (l *lane) holding() time.Duration { return l.engine.opts.RequestTimeout() / 2 }

// succeed has a connection synchronized that is the next to have a lane, and have it.
func (e *Engine) succeed(ctx context.Context, s *session, sync func(context.Context, Snapshot) error) (Snapshot, error) {
	l := s.lane
	if s.failed {
		l.mu.Lock()
		s.gap = true // it costs one timeout, not one for each return (L22)
		l.mu.Unlock()
	} else {
		h, err := s.stand(ctx)
		if err != nil {
			return Snapshot{}, err
		}
		defer time.AfterFunc(l.holding(), func() { l.release(h) }).Stop()
	}
	received, err := e.tell(ctx, s, sync)
	if err != nil {
		return Snapshot{}, err
	}
	if _, err := s.stand(ctx); err != nil {
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

// shown is what a connection is shown of what it is told: to a successor a pod goes on whose
// Stop waits for it.
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

// takeOver gives a successor the lane, if the first is there.
func (e *Engine) takeOver(s *session) {
	gone := s.lost()
	e.mu.Lock()
	if l := s.lane; l.next != s || gone {
		e.mu.Unlock()
		return
	}
	e.end(s.lane.session, fmt.Errorf("%w: %w", ErrSucceeded, ErrClosed))
}

// missedSince lists once more for a successor that was synchronized while the first went on,
// and returns what has begun since. The line stands, so this takes no longer than a Synchronize.
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
			case e.underWay(o.ID()): // it is asked, or told late
				continue
			case e.ended.stage(o.ID()) != alive: // while the line stood
				continue
			}
			ev := Event{Kind: kind, Pod: o.Pod, Container: o.Container, Late: true}
			ev.Request = e.opts.Begun(ev, there[ledger.ID{Pod: o.Pod}].Value, o.Value)
			late = append(late, entry{missed: &ev, weight: e.opts.Weigh(ev)})
		}
	}
	began(RunPodSandbox, now.Pods)
	began(CreateContainer, now.Containers)
	return now, late, nil
}

// answeredBy returns what a successor was told of, with no pod in creation that the first has
// answered: its RunPodSandbox does not come again. l.mu is held.
func (l *lane) answeredBy(received Snapshot) Snapshot {
	received.Pods = slices.Clone(received.Pods)
	for i := range received.Pods {
		p := &received.Pods[i]
		p.Creating = p.Creating && !l.ledger.Begun(p.Pod)
	}
	return received
}

// ended returns the ends of what a successor was told of and that the first has heard
// since, or that was never told of it and is not there. Those of containers come first. What is
// not there and in creation, or has something in it that is, ends or vanishes with that. The locks of the
// engine and of the lane are held.
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
