// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A session is one connection in the lane of its name, from its Join until it has left.
type session struct {
	conn     Connection
	name     string
	index    string
	policy   Policy
	timeouts Timeouts
	wants    ledger.Kinds
	hands    bool // whether it succeeds another session of its name, and is succeeded
	origin   string
	since    time.Time
	gone     chan struct{}  // closed once it is over
	work     sync.WaitGroup // work that must be over before it has left

	listed    chan struct{} // closed when it has an inventory; made when it asks for one
	inventory *inventory    // written before listed is closed

	// Guarded by Engine.mu.
	nth    uint64     // its number among all sessions
	lane   *lane      // nil until it has the lane, or is the next to have it
	closed error      // why it is over; also read once gone is closed
	failed bool       // whether the name's last connection was not synchronized; written before lane
	seq    uint64     // its number among the sessions with an inventory, which are asked; written once
	after  Connection // its predecessor in the lane, nil if none; written with the lane's lock, too

	// Guarded by the lane's lock.
	joined    bool      // whether it was synchronized
	joinedAt  time.Time // when it was
	begun     bool      // whether its line has started
	synced    time.Time // when its Synchronize was sent
	gap       bool      // whether its predecessor received events after its inventory
	updated   []entry   // what a successor must receive when it has the lane, see updates
	failure   error     // of the last delivery that failed
	failureAt time.Time // when that failed
}

func (s *session) subscribed(k Kind) bool { return s.wants.Has(k) }

// enroll adds a connection, without a lane.
func (e *Engine) enroll(conn Connection) (*session, error) {
	s := &session{
		conn:     conn,
		name:     conn.Name(),
		index:    conn.Index(),
		policy:   conn.Policy(),
		timeouts: conn.Timeouts(),
		wants:    ledger.KindsOf(conn.Subscribed),
		origin:   e.opts.Origin(conn),
		since:    time.Now(),
		gone:     make(chan struct{}),
	}
	s.hands = !s.policy.Permanent && e.opts.HandOver(conn)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, ErrClosed
	case e.off[s.name]:
		return nil, ErrOff
	}
	e.arrivals++
	s.nth = e.arrivals
	e.sessions[s] = true
	s.work.Add(1) // until it has left its lane
	e.work.Add(1)
	go e.watch(s)
	return s, nil
}

// watch waits until a connection closes or is dropped, and finishes its session.
func (e *Engine) watch(s *session) {
	defer e.work.Done()
	select {
	case <-s.conn.Closed():
		e.drop(s, ErrClosed)
	case <-s.gone:
	}
	s.conn.Close()
	s.work.Wait()
	e.makeSafe(s)
	e.mu.Lock()
	delete(e.sessions, s)
	e.mu.Unlock()
	e.opts.Observer.Left(s.conn, s.closed)
}

// drop ends a session. Its watcher does the rest.
func (e *Engine) drop(s *session, reason error) {
	e.mu.Lock()
	if s.closed != nil {
		e.mu.Unlock()
		return
	}
	e.end(s, reason)
}

// end ends a session. mu is held, and released.
func (e *Engine) end(s *session, reason error) {
	s.closed = reason
	close(s.gone)
	defer s.work.Done()
	e.change()
	e.leave(s)
}

// leave takes a session out of its lane. If it has a successor, the ends that wait there wait
// for the successor, and so do callers if that has taken over. If it has none, the ends that the
// plugin has not received are reported as lost. mu is held, and released.
func (e *Engine) leave(s *session) {
	l := s.lane
	switch {
	case l == nil:
		e.mu.Unlock()
		return
	case l.session != s: // the line goes on without it
		l.mu.Lock()
		if l.next == s {
			l.next, l.hold = nil, nil
		}
		l.changes()
		e.mu.Unlock()
		l.resume()
		l.mu.Unlock()
		return
	}
	l.mu.Lock()
	next := l.next
	if l.hold != nil {
		l.hold.grant()
	}
	l.session, l.next, l.hold = next, nil, nil
	l.changes()
	if next != nil {
		next.after = s.conn
		l.remember(s, next)
	}
	joined := s.joined
	if joined {
		e.absent.note(l.name)
	}
	if next == nil || next.seq == 0 {
		e.askable = without(e.askable, l)
	}
	if next == nil {
		e.vacate(l)
	}
	e.mu.Unlock()
	l.desert(s, joined, next != nil)
}

// desert handles all that waits in a lane that its session has left. l.mu is held, and released.
func (l *lane) desert(s *session, joined, inherited bool) {
	var lost []Delivery
	var ended *request
	var what settlement
	r := l.current
	if r != nil {
		l.current, l.held = nil, false
		if !r.answered {
			r.answered, r.err = true, ErrClosed
		}
		if !r.settled && !r.sending { // else its sender settles it
			what, ended = l.settle(r), r
		}
	}
	var callers []*caller
	var parts []*part
	if !errors.Is(s.closed, ErrSucceeded) {
		callers = l.line.callers()
	}
	if joined {
		l.admitUnwanted()
	}
	if r != nil && r.part != nil && !r.part.over {
		r.part.again = true
		l.putBack(r.part)
	}
	if !inherited {
		parts = l.line.clear()
	}
	for _, p := range parts {
		lost = append(lost, l.lose(p, s, r)...)
	}
	l.mu.Unlock()
	for _, c := range callers {
		c.err = c.lost(joined)
		close(c.ready)
	}
	if ended != nil {
		what.report(ended)
	}
	l.engine.record(lost)
	if r != nil {
		l.mu.Lock()
		r.wake()
		l.mu.Unlock()
	}
}

// putBack puts a part that has begun back to where it came from.
func (l *lane) putBack(p *part) {
	if p.missed {
		l.line.missed = append([]*part{p}, l.line.missed...)
		return
	}
	l.line.putBack(entry{part: p})
}

// reason returns why the session or its connection is over.
func (s *session) reason() error {
	select {
	case <-s.gone:
		return s.closed
	default:
		return ErrClosed
	}
}

// lost reports whether the connection is closed, even if its watcher has not noticed yet.
func (s *session) lost() bool {
	select {
	case <-s.gone:
		return true
	case <-s.conn.Closed():
		return true
	default:
		return false
	}
}

// also returns an error that is both err and what.
func also(err, what error) error {
	if errors.Is(err, what) {
		return err
	}
	return fmt.Errorf("%w: %w", what, err)
}
