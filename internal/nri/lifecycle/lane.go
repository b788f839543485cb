// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// A lane is the one way to a connection. Its turn is held by one at a time:
// by the join, until the connection is synchronized; by the caller of a
// blocking event, who delivers it itself; or by a goroutine that works
// through the events of a teardown. Who comes while it is held waits in line,
// first come first served.
//
// So no goroutine is there for a lane that has nothing to send, and a plugin
// that has nothing else to do is reached without a switch of goroutines.
type lane struct {
	engine *Engine
	conn   Connection
	name   string
	index  string
	wants  uint32 // the kinds subscribed to, as bits
	seq    uint64 // its number among all that ever joined
	since  time.Time

	gone chan struct{}  // closed once the lane is
	work sync.WaitGroup // the goroutines of teardowns; none starts once closed

	// mu guards what follows. It is held for the work of a few maps and
	// slices, never across a call of the connection or the observer.
	mu       sync.Mutex
	held     bool    // whether someone has the turn; if not, the line is empty
	line     []entry // who comes next
	draining *part   // the part that has the turn, if one has
	ledger   ledger
	joined   bool  // whether the connection was synchronized
	closed   error // why the lane is closed, nil while it is open

	current Event     // what is being delivered, zero if nothing is
	started time.Time // since when
	bound   *deadline // its context
	failure error     // of the last delivery that failed
	failed  time.Time // when it did
}

// An entry of the line is one of three: a caller who waits for the turn, a
// part of a teardown, or an event that the plugin did not subscribe to and
// that only changes the ledger, in its place.
type entry struct {
	caller *caller
	part   *part
	note   Event
}

// A caller waits for the turn in a lane.
type caller struct {
	ready chan struct{} // closed when the turn is the caller's, or the lane closed
	err   error         // nil for the turn, set before ready is closed
}

func (l *lane) subscribed(k Kind) bool { return l.wants&(1<<k) != 0 }

// errAbsent is what those get who come to a lane that is closed already, or
// that closes before its connection was synchronized: to them the plugin is
// not there, which is no failure of it.
var errAbsent = errors.New("not connected")

// enter waits for the turn, says how long, and returns with l.mu held. Or it
// returns ErrClosed if the lane closes meanwhile, or ctx's error if that ends
// first; then the plugin never hears of the event.
func (l *lane) enter(ctx context.Context) (waited time.Duration, err error) {
	l.mu.Lock()
	if l.closed != nil {
		l.mu.Unlock()
		return 0, errAbsent
	}
	if !l.held {
		l.held = true
		return 0, nil
	}
	if l.full() {
		err := l.loss()
		l.mu.Unlock()
		l.engine.drop(l, ErrBacklog)
		return 0, err
	}
	c := &caller{ready: make(chan struct{})}
	l.line = append(l.line, entry{caller: c})
	l.mu.Unlock()

	asked := time.Now()
	select {
	case <-c.ready:
	case <-ctx.Done():
		if l.withdraw(c) {
			return time.Since(asked), ctx.Err()
		}
		<-c.ready // in the same moment
	}
	if c.err != nil {
		return time.Since(asked), c.err
	}
	l.mu.Lock()
	return time.Since(asked), nil
}

// withdraw takes a caller out of the line and says whether it was there.
func (l *lane) withdraw(c *caller) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.line, func(e entry) bool { return e.caller == c })
	if i < 0 {
		return false
	}
	l.line = slices.Delete(l.line, i, i+1)
	return true
}

// leave passes the turn on, and releases l.mu. The caller holds both.
func (l *lane) leave() {
	p := l.next()
	if p != nil {
		l.work.Add(1)
	}
	l.mu.Unlock()
	if p != nil {
		go func() {
			l.mu.Lock()
			l.drain(p)
		}()
	}
}

// next passes the turn to the next in line. If that is a part of a teardown,
// next returns it for the caller to see to. l.mu is held.
func (l *lane) next() *part {
	l.draining = nil
	for len(l.line) > 0 {
		e := l.line[0]
		l.line[0] = entry{}
		if l.line = l.line[1:]; len(l.line) == 0 {
			l.line = nil
		}
		switch {
		case e.caller != nil:
			close(e.caller.ready)
			return nil
		case e.part != nil:
			l.draining = e.part
			return e.part
		default:
			_, _ = l.ledger.admit(e.note) // what it says was for the caller, who did not wait
		}
	}
	l.held = false
	return nil
}

// note enters an event that the plugin did not subscribe to in the ledger, in
// its place among the others, and waits for nothing (L14).
func (l *lane) note(ev Event, c *creation) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed != nil:
		return errAbsent
	case c.undone():
		return ErrStopped
	case !l.held:
		_, err := l.ledger.admit(ev)
		return err
	case !ev.Kind.first():
		return nil
	case l.full():
		l.mu.Unlock()
		l.engine.drop(l, ErrBacklog)
		l.mu.Lock()
		return errAbsent
	}
	l.line = append(l.line, entry{note: ev})
	return nil
}

// full says whether the line is as long as it may be. l.mu is held.
func (l *lane) full() bool { return len(l.line) >= l.engine.opts.BacklogLimit }

// loss is what the lane's callers get when it closes. l.mu is held.
func (l *lane) loss() error {
	if l.joined {
		return ErrClosed
	}
	return errAbsent
}

// close shuts the lane. The delivery under way is cut short, and those in line
// are let go. It returns false if the lane was shut before.
func (l *lane) close(reason error) bool {
	l.mu.Lock()
	if l.closed != nil {
		l.mu.Unlock()
		return false
	}
	l.closed = reason
	line, bound, err := l.line, l.bound, l.loss()
	l.line = nil
	l.mu.Unlock()

	close(l.gone)
	if bound != nil {
		bound.end()
	}
	for _, e := range line {
		switch {
		case e.caller != nil:
			e.caller.err = err
			close(e.caller.ready)
		case e.part != nil:
			l.mu.Lock()
			l.run(e.part)
			l.mu.Unlock()
		}
	}
	return true
}
