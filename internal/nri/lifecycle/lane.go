// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A lane is the one way to a connection. Its turn is held by one at a time:
// by the join, until the connection is synchronized; by the caller of an event
// that may be refused; or by the events of a teardown. A request that was sent
// keeps the turn until the plugin has answered it. Who comes while it is held
// waits in line, first come first served.
//
// So no goroutine is there for a lane, and whoever ends a request, mostly the
// one that brings the plugin's answer, sends the next.
type lane struct {
	engine *Engine
	conn   Connection
	policy Policy
	name   string
	index  string
	wants  uint32 // the kinds subscribed to, as bits
	since  time.Time
	failed bool // whether the last connection of that name failed to be synchronized

	timeouts Timeouts
	hands    bool // whether it succeeds another one of its name, and is succeeded; see handover.go

	gone chan struct{}  // closed once the lane is
	out  chan struct{}  // closed once it is none of the engine's lanes either
	work sync.WaitGroup // what has to be over before the connection has left; nothing starts once closed

	listed    chan struct{} // closed when the runtime has listed for it; made when it asks for that, which may be again
	inventory inventory     // what it listed; written before listed is closed
	seq       uint64        // its number among those listed for; written before it is askable

	// mu guards what follows. It is held for the work of a few maps and
	// slices, never across a call of the connection or the observer.
	mu      sync.Mutex
	held    bool    // whether someone has the turn; if not, the line is empty
	line    []entry // who comes next
	weight  int     // of the events in line
	current *request
	ledger  ledger
	joined  bool  // whether the connection was synchronized, or has taken over from one that was
	closed  error // why the lane is closed, nil while it is open

	// Of what the lane's name is owed (L18), see Owed.
	owing    bool  // whether it may be owed something
	twin     bool  // whether it has another connection
	safe     bool  // whether it is safe that the name is away, and what it knows
	heir     *lane // the connection that has taken over what it knew
	passed   bool  // whether another connection has taken over what it knew
	quiet    bool  // whether nothing of it is still to be accounted for; guarded by Engine.mu
	debts    []debt
	payUntil time.Time // until when they come first
	brokeAt  Event     // the one at which the last connections of the name were lost
	broke    int       // how many
	paid     bool      // whether one came last, rather than one in line

	handover // see handover.go

	cut       context.CancelFunc // of the Synchronize that is being sent, nil if none is
	synced    time.Time          // since when it is
	failure   error              // of the last delivery that failed
	failureAt time.Time          // when it did
}

// An entry of the line is one of four: a caller who waits for the turn, a part
// of a teardown, a first event that the plugin missed, or an event that it did
// not subscribe to and that only changes the ledger, in its place.
type entry struct {
	caller *caller
	part   *part
	missed *Event
	note   Event
	weight int
}

// A caller waits for the turn in a lane.
type caller struct {
	ready chan struct{} // closed when the turn is the caller's, or not to be had
	err   error         // nil for the turn, set before ready is closed
	place               // the lane in whose line it waits
}

func (l *lane) subscribed(k Kind) bool { return l.wants&(1<<k) != 0 }

var (
	// errAbsent is what those get who come to a lane that is closed already, or
	// that closes before its connection was synchronized: to them the plugin is
	// not there, which is no failure of it.
	errAbsent = errors.New("not connected")

	// errJoining is what those get who have waited long enough for connections
	// to be synchronized (L13), and those who come to a connection whose last one
	// failed to be: a plugin that hangs there and comes back is not waited for
	// again (L22).
	errJoining = errors.New("still to be synchronized")

	// errReturned is what a creation gets that has asked the plugin, and finds that it
	// has come back since.
	errReturned = errors.New("back since it was asked")
)

// enter waits for the turn and returns the lane in which that was had, with its mu
// held: another one if a successor has taken over. Or it returns ErrClosed
// if the lane closes meanwhile, an Overdue if the plugin owes an answer, or
// ctx's error if that ends first; then the plugin does not hear of the event.
// patience is until when to wait for a connection to be synchronized. since is
// when it began to wait, zero if it did not.
func (l *lane) enter(ctx context.Context, patience func() time.Time) (at *lane, since time.Time, err error) {
	l = l.lockLatest()
	switch {
	case l.closed != nil:
		l.mu.Unlock()
		return l, since, errAbsent
	case l.overdue():
		err := l.debt()
		l.mu.Unlock()
		return l, since, err
	case !l.held:
		l.held = true
		return l, since, nil
	case l.failed && !l.joined:
		l.mu.Unlock()
		return l, since, errJoining
	}
	c := &caller{ready: make(chan struct{})}
	c.at.Store(l)
	joined := l.joined
	if full := l.push(entry{caller: c}); full != nil {
		err := l.loss()
		l.mu.Unlock()
		l.engine.drop(l, full)
		return l, since, err
	}
	l.mu.Unlock()
	since = time.Now()
	if err := c.wait(ctx, joined, patience); err != nil {
		return c.at.Load(), since, err
	}
	return c.lock(), since, nil
}

// wait waits for the turn in the line.
func (c *caller) wait(ctx context.Context, joined bool, patience func() time.Time) error {
	var late <-chan time.Time
	if !joined {
		timer := time.NewTimer(time.Until(patience()))
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case <-c.ready:
			return c.err
		case <-ctx.Done():
			if c.withdraw(false) {
				return ctx.Err()
			}
			<-c.ready // in the same moment
			return c.err
		case <-late:
			if c.withdraw(true) {
				return errJoining
			}
			late = nil // it is synchronized, and has something else to do
		}
	}
}

// withdraw takes a caller out of the line, if joining is set only of a lane
// whose connection is not synchronized yet, and says whether it did.
func (c *caller) withdraw(joining bool) bool {
	l := c.lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.line, func(e entry) bool { return e.caller == c })
	if i < 0 || joining && l.joined {
		return false
	}
	l.weight -= l.line[i].weight
	l.line = slices.Delete(l.line, i, i+1)
	return true
}

// push puts an entry in the line, or says why it is full. l.mu is held.
func (l *lane) push(e entry) (full error) {
	switch o := &l.engine.opts; {
	case len(l.line) >= o.BacklogLimit:
		return fmt.Errorf("%w: %d events", ErrBacklog, len(l.line))
	case l.weight+e.weight > o.BacklogBytes:
		return fmt.Errorf("%w: %d events of %d bytes", ErrBacklog, len(l.line), l.weight)
	}
	l.weight += e.weight
	l.line = append(l.line, e)
	return nil
}

// pop takes the first out of the line. l.mu is held.
func (l *lane) pop() entry {
	e := l.line[0]
	l.line[0] = entry{}
	if l.line = l.line[1:]; len(l.line) == 0 {
		l.line = nil
	}
	l.weight -= e.weight
	return e
}

// goOn goes on with a part of a teardown, if there is one, and with the line
// when that is over. The caller holds the turn, and l.mu, though that not
// throughout.
func (l *lane) goOn(p *part) {
	switch {
	case p == nil || p.over:
	case l.yieldsBefore(p):
		l.line = slices.Insert(l.line, 0, entry{part: p})
	case l.advance(p):
		return
	}
	l.passOn()
}

// passOn passes the turn to the next in line. The caller holds the turn, and
// l.mu, though that not throughout.
func (l *lane) passOn() {
	for !l.yields() && (len(l.debts) > 0 || len(l.line) > 0) {
		if l.payNext() {
			if l.pay() {
				return
			}
			continue
		}
		e := l.pop()
		switch {
		case e.caller != nil:
			close(e.caller.ready)
			return
		case e.part != nil:
			if l.advance(e.part) {
				return
			}
		case e.missed != nil:
			if l.catchUp(*e.missed) {
				return
			}
		default:
			_, _ = l.ledger.admit(e.note) // what it says was for the caller, who did not wait
		}
	}
	l.held = l.yields()
}

// note enters an event that the plugin did not subscribe to in the ledger, in
// its place among the others, and waits for nothing (L14).
func (l *lane) note(ev Event, c *creation) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.record(ev)
	switch {
	case l.successor != nil:
		return errMoved
	case l.closed != nil:
		return errAbsent
	case c.undone():
		return ErrStopped
	case !l.held:
		_, err := l.ledger.admit(ev)
		return err
	case !ev.Kind.first():
		return nil
	}
	if full := l.push(entry{note: ev}); full != nil {
		l.mu.Unlock()
		l.engine.drop(l, full)
		l.mu.Lock()
		return errAbsent
	}
	return nil
}

// reason is why the lane closed, or its connection did.
func (l *lane) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed != nil {
		return l.closed
	}
	return ErrClosed
}

// loss is what the lane's callers get when it closes. l.mu is held.
func (l *lane) loss() error {
	if l.joined {
		return ErrClosed
	}
	return errAbsent
}

// close shuts the lane. The request under way is cut short, those in line are
// let go, and what the connection was still to be told is accounted for. It
// returns false if the lane was shut before.
func (l *lane) close(reason error) bool {
	l.mu.Lock()
	if l.closed != nil {
		l.mu.Unlock()
		return false
	}
	l.closed = reason
	l.work.Add(1)
	defer l.work.Done()
	r, line, cut, err := l.current, l.line, l.cut, l.loss()
	l.line, l.weight, l.debts = nil, 0, nil
	l.mu.Unlock()

	close(l.gone)
	if cut != nil {
		cut()
	}
	if r != nil {
		r.cut()
		r.answer(nil, ErrClosed) // unless it was answered, or who sends it will see
	}
	for _, e := range line {
		switch {
		case e.caller != nil:
			e.caller.err = err
			close(e.caller.ready)
		case e.part != nil:
			l.mu.Lock()
			l.advance(e.part)
			l.mu.Unlock()
		}
	}
	return true
}
