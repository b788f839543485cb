// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"sync"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/catchup"
	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A lane is the one way to the plugin of a name. It has a session while the plugin is
// connected. The turn is held by one at a time: by the caller of an event that may be
// rejected, or by the events of a teardown. A request that was sent keeps the turn until
// the plugin has answered it. Who comes while it is held waits in line, first come first
// served.
//
// The line stands while there is no session, while that is still to be synchronized, and
// while a successor holds it. The code that changes one of these lets the line go on.
//
// So no goroutine is there for a lane, and whoever ends a request, mostly the
// one that brings the plugin's answer, sends the next.
type lane struct {
	engine *Engine
	name   string
	index  string
	place       // which session has the lane, and which wait for it
	own    bool // whether it is that of its name; a second plugin of the name has one beside it

	// mu guards what follows. It is held for the work of a few maps and
	// slices, never across a call of the connection or the observer.
	mu      sync.Mutex
	held    bool     // whether someone has the turn
	hold    *hold    // by which the line stands, nil if there is none
	waited  int      // of those in line, the ones that are served before it stands: they have waited for the session
	line    line     // who comes next
	current *request // that the plugin has not answered
	ledger  *ledger.Ledger
	record  *catchup.Record // what is kept of what the plugin misses, nil if nothing is
	breaks  breaks
}

// An entry of the line is one of three: a caller who waits for the turn, a part
// of a teardown, or a first event that the plugin missed or does not want.
type entry struct {
	caller   *caller
	part     *part
	missed   *Event
	unwanted bool // whether that only changes the ledger
	weight   int
}

// A caller waits for the turn in a lane.
type caller struct {
	joined bool          // whether the plugin was synchronized when the caller came
	ready  chan struct{} // closed when the turn is the caller's, or not to be had
	err    error         // nil for the turn, set before ready is closed
}

var (
	// errAbsent is what those get who come to a lane without a plugin, or whose plugin
	// goes before it was synchronized: to them it is not there, which is no failure of it.
	errAbsent = errors.New("not connected")

	// errJoining is what those get who have waited long enough for connections
	// to be synchronized (L13), and those who come to a connection whose last one
	// failed to be: a plugin that hangs there and comes back is not waited for
	// again (L22).
	errJoining = errors.New("still to be synchronized")

	// errReturned is what a creation gets that has asked the plugin, and finds that it
	// has come back since.
	errReturned = errors.New("back since it was asked")

	// errTooLate is what a creation gets that has spent on plugins that came in since it began what it
	// may.
	errTooLate = errors.New("others have come in since, and taken the time")
)

// stands says whether nobody gets the turn. mu is held.
func (l *lane) stands() bool {
	return l.session == nil || !l.session.begun || l.hold != nil && (l.hold.is || l.due() == 0)
}

// enter waits for the turn and returns with l.mu held. Or it returns ErrClosed if the
// plugin goes meanwhile, an Overdue if it is overdue, or
// its context's error if that ends first; then the plugin does not hear of the event.
// since is when it began to wait, zero if it did not.
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
	case !l.held && !l.stands():
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

// wait waits for the turn in the line, which had a session when the caller came.
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
			<-c.ready // in the same moment
			return c.err
		case <-late:
			if l.withdraw(c, true) {
				return errJoining
			}
			late = nil // it is synchronized, and has something else to do
		}
	}
}

// joining says how long since start a connection was still to be synchronized.
func (l *lane) joining(s *session, start time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.joined {
		return s.joinedAt.Sub(start)
	}
	return time.Since(start)
}

// withdraw takes a caller out of the line, if joining is set only of one
// whose connection is not synchronized yet, and says whether it did.
func (l *lane) withdraw(c *caller, joining bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if joining && l.session != nil && l.session.joined {
		return false
	}
	return l.line.remove(func(e entry) bool { return e.caller == c }) > 0
}

// push puts an entry in the line, or returns why the plugin is to be dropped: too much waits
// for it. One that is part of the runtime stays, and misses the event. l.mu is held.
func (l *lane) push(e entry) (full error) {
	switch full = l.line.full(e.weight, l.session.bounds(&l.engine.opts)); {
	case full == nil:
		l.waited = l.due() // a caller that has left has not waited
		l.line.push(e)
	case l.session.policy.Permanent:
		l.reject(e, full)
		return nil
	}
	return full
}

// reject lets go of what has no place in the line. l.mu is held.
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

// goOn goes on with a part of a teardown, if there is one, and with the line
// when that is over. The caller holds the turn, and l.mu, though that not
// throughout.
func (l *lane) goOn(p *part) {
	if p == nil || p.over || !l.advance(p) {
		l.passOn()
	}
}

// passOn passes the turn to the next in line, unless the line stands. The caller holds
// the turn, and l.mu, though that not throughout.
func (l *lane) passOn() {
	for !l.stands() {
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
			if l.catchUp(*e.missed) {
				return
			}
		}
	}
	l.held = false
	if l.hold != nil && l.due() == 0 {
		l.hold.grant()
	}
}

// resume lets the line go on, which stood. l.mu is held, though not throughout.
func (l *lane) resume() {
	if !l.held {
		l.held = true
		l.passOn()
	}
}

// lost is what a caller gets when the connection is lost, by whether that was synchronized. Or its
// predecessor was, when the caller came.
func (c *caller) lost(joined bool) error {
	if joined || c.joined {
		return ErrClosed
	}
	return errAbsent
}

// due returns how many in line are served before it stands again. l.mu is held.
func (l *lane) due() int { return min(l.waited, len(l.line.entries)) }

// begin lets the line go on, of a connection that is synchronized.
func (l *lane) begin(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.begun = true
	if l.session == s {
		l.waited = len(l.line.entries)
		l.resume()
	}
}

// note enters an event that the plugin did not subscribe to in the ledger, and waits for
// nothing (L14). In a lane that is busy or stands, one that begins something has its place in
// the line, as one that was missed: the ends before it may be of another life of the same id.
// l.mu is held.
func (l *lane) note(ev Event, c *creation) (full, err error) {
	switch {
	case c.undone():
		return nil, ErrStopped
	case !l.held && !l.stands():
		_, err := l.ledger.Admit(ev)
		return nil, err
	case !ev.Kind.First():
		return nil, nil
	}
	missed := ev // as most are not, and need no allocation
	return l.push(entry{missed: &missed, unwanted: true}), nil
}

// admitUnwanted enters the first events in the line that the plugin does not want: what the name
// knows, it knows from now on. l.mu is held.
func (l *lane) admitUnwanted() {
	l.line.remove(func(e entry) bool {
		if e.unwanted {
			l.ledger.AdmitLate(*e.missed)
		}
		return e.unwanted
	})
}
