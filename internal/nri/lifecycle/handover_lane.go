// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"sync/atomic"
)

// A handover is what a lane knows of being succeeded. Its lock guards it.
type handover struct {
	succession // but for this, see there

	successor *lane         // that has taken over; written under Engine.mu too
	kept      chan struct{} // closed when the turn is kept for one that is to; nil if none wants that
	keeping   bool          // whether it is
	recording bool          // whether there may be a successor to tell of what begins
	records   []Event       // what has begun since
}

// errMoved says that an event is to go to the successor of a connection.
var errMoved = errors.New("another connection has taken over")

// unheard says whether a connection did not answer, and its policy is to go on.
func unheard(err error) bool { return errors.Is(err, errWithout) || errors.Is(err, errAbsent) }

// latest returns the lane of the connection that has taken over last.
func (l *lane) latest() *lane {
	if !l.hands {
		return l
	}
	l = l.lockLatest()
	defer l.mu.Unlock()
	return l
}

// lockLatest returns it with its lock held.
func (l *lane) lockLatest() *lane {
	l.mu.Lock()
	for l.successor != nil {
		next := l.successor
		l.mu.Unlock()
		l = next
		l.mu.Lock()
	}
	return l
}

// A place is the lane in whose line something waits. It changes, with the locks of
// both lanes held, when a successor takes over the line.
type place struct{ at atomic.Pointer[lane] }

// lock returns the lane with its lock held.
func (p *place) lock() *lane {
	for {
		l := p.at.Load()
		l.mu.Lock()
		if p.at.Load() == l {
			return l
		}
		l.mu.Unlock()
	}
}

// keep has the turn kept for a successor as soon as the request under way has ended, or
// is overdue. The channel is closed then.
func (l *lane) keep() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := make(chan struct{})
	l.kept = kept
	switch {
	case l.keeping:
		close(kept)
	case !l.held || l.overdue():
		l.held = true
		l.yields()
	}
	return kept
}

// yields says whether the turn is kept, and keeps it if that is wanted. The caller holds
// it, and l.mu.
func (l *lane) yields() bool {
	if l.kept != nil && !l.keeping {
		l.keeping = true
		close(l.kept)
	}
	return l.keeping
}

// yieldsBefore says whether the turn is to be kept before a part goes on that has
// something left to tell. l.mu is held.
func (l *lane) yieldsBefore(p *part) bool {
	if l.kept == nil || l.closed != nil || l.successor != nil {
		return false
	}
	whole, next := l.ledger, p.next
	l.ledger = whole.copyOf(p.round.events)
	_, more := l.nextEnd(p.round, &next)
	l.ledger = whole
	return more
}

// resume gives the turn back that was kept.
func (l *lane) resume(kept chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == kept && l.successor == nil {
		l.unkeep()
	}
}

// unkeep gives it back, or wants it no more. l.mu is held, though not throughout.
func (l *lane) unkeep() {
	kept := l.keeping
	l.kept, l.keeping = nil, false
	if kept && l.current == nil && l.closed == nil {
		l.passOn()
	}
}

// waitForTurn waits until the turn of the first is kept, or it has closed.
func (l *lane) waitForTurn(ctx context.Context, successor *lane) (chan struct{}, error) {
	kept := l.keep()
	select {
	case <-kept:
	case <-l.gone:
	case <-successor.gone:
		return nil, successor.reason()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return kept, nil
}

// wasTold says whether the plugin was sent a Synchronize.
func (l *lane) wasTold() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.synced.IsZero()
}

// record keeps what begins for a successor. l.mu is held.
func (l *lane) record(ev Event) {
	if l.recording && ev.Kind.first() {
		ev.Request = l.engine.opts.Copy(ev)
		l.records = append(l.records, ev)
	}
}

// knowsNow says whether an object is known.
func (l *lane) knowsNow(o object) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ledger.knows(o.pod, o.container)
}
