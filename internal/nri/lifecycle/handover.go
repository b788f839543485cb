// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A connection of a name that has one is its successor, where Options.HandOver says so
// (L19). It is synchronized beside the first, with what that knows; then events turn
// to it in one instant, and the first is closed. No event reaches both:
//
//   - The runtime lists for it while the first goes on.
//   - When the first has answered what it is at, nothing else is sent to it for no
//     longer than half a request timeout, so that a stop has time left for its answer.
//     What it knows then is what the successor is synchronized with; what comes
//     meanwhile waits in its line.
//   - When the successor has answered, that line is its own, with all that the first
//     was owed.
//
// One that takes longer, or whose last try failed, is synchronized while the first is
// sent events. It is told after that, late, what began and ended meanwhile.
//
// If it fails, the first goes on as if it had never come. If the first goes before, the
// successor takes over at once: what waits, waits for it.
//
// A successor inherits what the name knows and is owed. What it is told of by Synchronize
// it knows once it has answered; if it never does, the name knows what it knew (L3). A
// creation that the first has answered is told to the successor by Synchronize or, if that
// was too early, late. It asks the successor only if the first is gone without an answer,
// or cannot give one that is required (L20).
//
// Of many that register the newest comes next. One that comes from where a predecessor of the present
// connection came from, see Options.Origin, waits until that one leaves: a plugin that
// was told to go and is started again does not take turns with its successor.

// ErrSucceeded is why a connection is dropped whose successor has taken over.
var ErrSucceeded = errors.New("a newer connection of the plugin has taken over")

var (
	// errNewer is why a connection is dropped that has not been synchronized when
	// another one of its name comes.
	errNewer = errors.New("another connection of the plugin has come before it was synchronized")

	// errNoFirst says that there is nobody to succeed any more.
	errNoFirst = errors.New("the connection to succeed has closed")
)

// A succession is what is to become of a connection. Engine.mu guards it.
type succession struct {
	next    *lane // that is to succeed it, nil if none
	closing bool  // it closes, and nobody has succeeded it
	origins []string

	// Of the successor.
	ready   bool      // its list is there: it takes over at once if the first closes
	offered *Snapshot // what it is synchronized with
	knew    ledger    // what the first knew then
	behind  bool      // the first has been sent events since
}

// handOver brings in a connection that succeeds another one if there is one.
func (e *Engine) handOver(ctx context.Context, l *lane, sync func(context.Context, Snapshot) error) (Snapshot, error) {
	if err := e.standBack(ctx, l); err != nil {
		return Snapshot{}, err
	}
	if err := e.enterGate(ctx, l); err != nil {
		return Snapshot{}, err
	}
	defer e.leaveGate(l)
	for {
		first, err := e.first(l)
		switch {
		case err != nil:
			return Snapshot{}, err
		case first == nil:
			return e.synchronize(ctx, l, sync)
		}
		snapshot, err := e.succeed(ctx, l, first, sync)
		if !errors.Is(err, errNoFirst) {
			return snapshot, err
		}
	}
}

// first returns the connection that another one is to succeed, from now on with a
// record of what begins. If there is none, the other one takes part from now on as any
// that joins.
func (e *Engine) first(l *lane) (*lane, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || !slices.Contains(e.pending, l) {
		return nil, ErrClosed
	}
	if f := e.serving(l.name); f != nil {
		f.next = l
		f.mu.Lock()
		defer f.mu.Unlock()
		f.recording = true
		return f, nil
	}
	e.pending, e.lanes = without(e.pending, l), insert(e.lanes, l)
	return nil, nil
}

// serving returns the synchronized connection of a name that can be succeeded, nil if
// there is none. One that has closed counts until its watcher has noticed, so that there is
// never more than one. mu is held.
func (e *Engine) serving(name string) *lane {
	for _, o := range e.lanes {
		if o.hands && o.name == name && o.isJoined() {
			return o
		}
	}
	return nil
}

// succeed synchronizes a connection and has it take over from the first.
func (e *Engine) succeed(ctx context.Context, l, first *lane, sync func(context.Context, Snapshot) error) (s Snapshot, err error) {
	defer func() {
		if err != nil {
			e.forgoTurn(l, first)
		}
	}()
	if err := e.settled(ctx, l, first); err != nil {
		return Snapshot{}, err
	}
	if _, err := e.list(ctx, l); err != nil {
		return Snapshot{}, err
	}
	e.setReady(l)
	kept, err := first.waitForTurn(ctx, l)
	if err != nil {
		return Snapshot{}, err
	}
	if s, err = e.offer(l, first); err != nil {
		return Snapshot{}, err
	}
	hold := first.requestTimeout() / 2
	if l.failed {
		hold = 0 // it costs one timeout, not one for each return (L22)
	}
	timer := time.AfterFunc(hold, func() { e.goOnWithout(l, first, kept) })
	defer timer.Stop()
	if err := l.tellAll(ctx, s, sync); err != nil {
		return Snapshot{}, err
	}
	if _, err := first.waitForTurn(ctx, l); err != nil {
		return Snapshot{}, err
	}
	if err := e.takeTurn(l, first); err != nil {
		return Snapshot{}, err
	}
	return s, nil
}

// settled waits for the containers that the first was asked for before there was a
// record: once they are sealed or given up, the list has them or they are no more. What
// takes longer is told to the successor late.
func (e *Engine) settled(ctx context.Context, l, first *lane) error {
	var underWay []chan struct{}
	e.mu.Lock()
	for o, c := range e.creations {
		if o.container != "" && !c.sealed && first.knowsNow(o) {
			underWay = append(underWay, c.ends())
		}
	}
	e.mu.Unlock()
	timer := time.NewTimer(first.requestTimeout())
	defer timer.Stop()
	for _, over := range underWay {
		select {
		case <-over:
		case <-timer.C:
			return nil
		case <-first.gone:
			return nil // who joins finds them, or is asked
		case <-l.gone:
			return l.reason()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// ends returns a channel that is closed when the creation is sealed or given up.
// Engine.mu is held.
func (c *creation) ends() chan struct{} {
	if c.over == nil {
		c.over = make(chan struct{})
	}
	return c.over
}

// settle tells those who wait for that. Engine.mu is held.
func (c *creation) settle() {
	if c.over != nil {
		close(c.over)
		c.over = nil
	}
}

func (e *Engine) setReady(l *lane) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.ready = true
}

// offer says what a successor is synchronized with: what there is for the first, whose
// turn is kept.
func (e *Engine) offer(l, first *lane) (Snapshot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l.offered != nil {
		return *l.offered, nil // it has taken over already
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	if first.closing || first.closed != nil {
		return Snapshot{}, errNoFirst
	}
	e.makeOffer(l, first)
	first.records = nil
	return *l.offered, nil
}

// goOnWithout lets the first go on while its successor takes its time.
func (e *Engine) goOnWithout(l, first *lane, kept chan struct{}) {
	e.mu.Lock()
	l.behind = true
	e.mu.Unlock()
	first.resume(kept)
}

// takeTurn has events turn to the successor, that has answered its Synchronize.
func (e *Engine) takeTurn(l, first *lane) error {
	took, err := e.turned(l, first)
	if took {
		e.drop(first, fmt.Errorf("%w: %w", ErrSucceeded, ErrClosed))
	}
	if err == nil && e.opts.Owed != nil {
		e.opts.Owed.Sync()
	}
	return err
}

func (e *Engine) turned(l, first *lane) (took bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	took = e.turn(first, l)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = nil
	switch {
	case l.closed != nil:
		return took, l.closed
	case !took:
		return false, errNoFirst
	}
	e.takeUp(l, *l.offered, l.ledger)
	return true, nil
}

// forgoTurn lets the first go on as if no successor had come, unless that has
// taken over.
func (e *Engine) forgoTurn(l, first *lane) {
	e.mu.Lock()
	l.ready = false
	if first.next == l {
		first.next = nil
	}
	e.mu.Unlock()
	first.mu.Lock()
	defer first.mu.Unlock()
	if first.successor == nil {
		first.recording, first.records = false, nil
		first.unkeep()
	}
}

// succeedAtOnce has a successor take over from a connection that is about to be closed,
// if it has its list: what waits for that one, and what it is owed, is not lost then.
func (e *Engine) succeedAtOnce(l *lane) {
	if !l.hands {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := l.next; s != nil && s.ready && !e.closed && e.turn(l, s) {
		return
	}
	l.closing = true
}

// succeeded says whether another connection has taken over from one that is closed,
// and sees to it that this was noticed.
func (e *Engine) succeeded(l *lane) bool {
	if !l.hands {
		return false
	}
	e.drop(l, ErrClosed)
	return l.latest() != l
}
