// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"sync"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/catchup"
	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A lane carries all events for the plugin of one name. It has a session while the plugin is
// connected. The turn has one holder at a time: the caller of an event that may be
// rejected, or a part of a teardown. A request that was sent keeps the turn until
// the plugin has answered it. All others wait in the line, first in, first out.
//
// The line is paused while the lane has no session, while the session is not synchronized yet,
// and while a successor holds the line. The code that ends one of these resumes the line.
//
// The goroutine that ends a request, mostly the one that brings the plugin's answer, sends
// the next event. So a lane needs no goroutine.
type lane struct {
	engine *Engine
	name   string
	index  string
	place       // which session has the lane, and which wait for it
	own    bool // whether Engine.names has it; a duplicate of the plugin has another lane

	// mu guards what follows. It is held for the work of a few maps and
	// slices, never across a call of the connection or the observer.
	mu      sync.Mutex
	held    bool     // whether the turn has a holder
	hold    *hold    // pauses the line for a successor, nil if none does
	waited  int      // entries that are served before a hold: they have waited for this session
	line    line     // what waits for the turn
	current *request // the request that the plugin has not answered, nil if none
	ledger  *ledger.Ledger
	record  *catchup.Record // of what the plugin misses, nil if nothing is kept
	breaks  breaks
}

// An entry of the line is one of three: a caller that waits for the turn, a part of a teardown, or
// an event for which no caller waits: a first event that the plugin missed or does not want, or
// what holds after an update.
type entry struct {
	caller   *caller
	part     *part
	late     *Event
	unwanted bool // whether late is not sent, and only changes the ledger
	weight   int
}

// A caller waits for the turn in a lane.
type caller struct {
	joined bool          // whether the plugin was synchronized when the caller came
	ready  chan struct{} // closed when the caller has the turn, or err is set
	err    error         // why the caller does not get the turn; set before ready is closed
}

var (
	// errAbsent means that the lane has no plugin, or that the plugin left before it was
	// synchronized. That is not a failure of the plugin.
	errAbsent = errors.New("not connected")

	// errJoining means that the caller has waited long enough for connections that join
	// (L13), or that the last connection of the name was not synchronized: if a plugin hangs
	// in Synchronize and comes back, callers do not wait for it again (L22).
	errJoining = errors.New("not synchronized yet")

	// errReturned means that the plugin has reconnected since the creation asked it.
	errReturned = errors.New("reconnected since it was asked")

	// errTooLate means that the creation has spent the time that it has for plugins that
	// registered since it began.
	errTooLate = errors.New("plugins that registered during the creation have used up its time for them")
)

// paused reports whether the line is paused: nothing in it gets the turn. mu is held.
func (l *lane) paused() bool {
	return l.session == nil || !l.session.begun || l.hold != nil && (l.hold.is || l.due() == 0)
}

// enter waits for the turn and returns with l.mu held. It fails with ErrClosed if the plugin
// disconnects meanwhile, with an Overdue if it is overdue, or with the error of the question's
// context if that ends first; then the plugin does not receive the event. since is when
// the wait began, zero if there was none.
func (l *lane) enter(q *question) (since time.Time, err error) {
	l.mu.Lock()
	s := l.session
	switch {
	case s == nil:
		l.mu.Unlock()
		return since, errAbsent
	case l.overdue():
		err := l.overdueError()
		l.mu.Unlock()
		return since, err
	case !l.held && !l.paused():
		l.held = true
		return since, nil
	case s.failed && !s.joined:
		l.mu.Unlock()
		return since, errJoining
	}
	c := &caller{joined: s.joined, ready: make(chan struct{})}
	full := l.push(entry{caller: c})
	l.mu.Unlock()
	if full != nil {
		l.engine.drop(s, full)
		return since, c.lost(false)
	}
	since = time.Now()
	if err := l.wait(q, c, s); err != nil {
		return since, err
	}
	l.mu.Lock()
	return since, nil
}

// wait waits for the turn in the line. s is the session that the lane had when the caller came.
func (l *lane) wait(q *question, c *caller, s *session) error {
	var late <-chan time.Time
	if !c.joined {
		start, timer := time.Now(), time.NewTimer(q.patience())
		defer timer.Stop()
		defer func() { q.waited += l.joining(s, start) }()
		late = timer.C
	}
	for {
		select {
		case <-c.ready:
			return c.err
		case <-q.ctx.Done():
			if l.withdraw(c, false) {
				return q.ctx.Err()
			}
			<-c.ready // at the same moment
			return c.err
		case <-late:
			if l.withdraw(c, true) {
				return errJoining
			}
			late = nil // it is synchronized, and handles another event
		}
	}
}

// joining returns for how long since start a connection was not synchronized yet.
func (l *lane) joining(s *session, start time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.joined {
		return s.joinedAt.Sub(start)
	}
	return time.Since(start)
}

// withdraw takes a caller out of the line, and reports whether it did. If joining is set, it does
// so only if the connection is not synchronized yet.
func (l *lane) withdraw(c *caller, joining bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if joining && l.session != nil && l.session.joined {
		return false
	}
	return l.line.remove(func(e entry) bool { return e.caller == c }) > 0
}

// push puts an entry in the line. If the line is full, it returns an error and the caller must
// drop the plugin; a permanent plugin stays, and misses the event. l.mu is held.
func (l *lane) push(e entry) (full error) {
	switch full = l.line.full(e.weight, l.session.bounds(&l.engine.opts)); {
	case full == nil:
		l.waited = l.due() // without callers that have left
		l.line.push(e)
	case l.session.policy.Permanent:
		l.reject(e, full)
		return nil
	}
	return full
}

// reject releases an entry that has no place in the line. l.mu is held.
func (l *lane) reject(e entry, why error) {
	switch {
	case e.caller != nil:
		e.caller.err = why
		close(e.caller.ready)
	case e.part != nil:
		e.part.fail(l.session, *e.part.round.last(), Skip, why)
		e.part.end()
	}
}

// goOn continues a part of a teardown, if there is one, and then the line. The caller holds the
// turn and l.mu; l.mu is released in between.
func (l *lane) goOn(p *part) {
	if p == nil || p.over || !l.advance(p) {
		l.passOn()
	}
}

// passOn passes the turn to the next entry, unless the line is paused. The caller holds the turn
// and l.mu; l.mu is released in between.
func (l *lane) passOn() {
	for !l.paused() {
		e, more := l.line.pop()
		if !more {
			break
		}
		l.waited = max(0, l.waited-1)
		switch {
		case e.caller != nil:
			close(e.caller.ready)
			return
		case e.part != nil:
			if l.advance(e.part) {
				return
			}
		default:
			if l.catchUp(*e.late) {
				return
			}
		}
	}
	l.held = false
	if l.hold != nil && l.due() == 0 {
		l.hold.grant()
	}
}

// resume continues a line that was paused. l.mu is held, and released in between.
func (l *lane) resume() {
	if !l.held {
		l.held = true
		l.passOn()
	}
}

// lost returns the error of a caller whose connection was lost. joined is whether the connection
// was synchronized; if not, its predecessor may have been when the caller came.
func (c *caller) lost(joined bool) error {
	if joined || c.joined {
		return ErrClosed
	}
	return errAbsent
}

// due returns how many entries are served before a hold pauses the line. l.mu is held.
func (l *lane) due() int { return min(l.waited, len(l.line.entries)) }

// begin starts the line of a connection that is synchronized.
func (l *lane) begin(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.begun = true
	if l.session == s {
		l.waited = len(l.line.entries)
		l.resume()
	}
}

// note records an event that the plugin did not subscribe to in the ledger, without waiting
// (L14). If the lane is busy or paused, a first event gets a place in the line, like a missed
// event: ends before it may belong to an earlier object of the same id. l.mu is held.
func (l *lane) note(ev Event, c *creation) (full, err error) {
	switch {
	case c.undone():
		return nil, ErrStopped
	case !l.held && !l.paused():
		_, err := l.ledger.Admit(ev)
		return nil, err
	case !ev.Kind.First():
		return nil, nil
	}
	missed := ev // a copy, so that other events need no allocation
	return l.push(entry{late: &missed, unwanted: true}), nil
}

// admitUnwanted records the first events in the line that the plugin does not want in the ledger
// now. l.mu is held.
func (l *lane) admitUnwanted() {
	l.line.remove(func(e entry) bool {
		if e.unwanted {
			l.ledger.AdmitLate(*e.late)
		}
		return e.unwanted
	})
}
