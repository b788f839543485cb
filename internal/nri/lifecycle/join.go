// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// ErrList says that the runtime did not list what there is in time.
var ErrList = errors.New("the runtime has not listed its pods")

// Join brings in a connection and returns once its plugin was synchronized.
// The runtime lists what there is, see Options.List. From then on the connection
// takes part in every event; what comes while it is being synchronized waits in
// its lane, and nobody else waits for it for longer than one SyncTimeout (L13).
//
// sync sends what was listed, corrected by what the engine knows, to the plugin,
// in as many messages as it likes. It has to return soon after the connection was
// closed, which is what happens when the plugin's SyncTimeout has passed: ctx has that
// time as its deadline and ends with the connection. What the plugin asks for in its reply
// is done when Join has returned: while sync runs, the plugin gets no events.
//
// If Join fails, the connection is closed, and those who waited for its answer
// go on as if it had never come.
func (e *Engine) Join(ctx context.Context, conn Connection, sync func(context.Context, Snapshot) error) error {
	s, err := e.enroll(conn)
	if err != nil {
		conn.Close()
		return fmt.Errorf("synchronize plugin %s: %w", conn.Name(), err)
	}
	received, err := e.bringIn(ctx, s, sync)
	e.remember(s, err)
	if err != nil {
		err = fmt.Errorf("synchronize plugin %s: %w", conn.Name(), err)
		e.drop(s, err)
		return err
	}
	e.opts.Observer.Joined(conn, time.Since(s.since), len(received.Pods), len(received.Containers))
	s.lane.begin(s)
	e.mu.Lock()
	defer e.mu.Unlock()
	s.lane.changes() // the next one may come
	return nil
}

// bringIn gives a connection its lane, and has it synchronized.
func (e *Engine) bringIn(ctx context.Context, s *session, sync func(context.Context, Snapshot) error) (Snapshot, error) {
	if err := e.comeIn(ctx, s); err != nil {
		return Snapshot{}, err
	}
	if s.lane.isNext(s) {
		return e.succeed(ctx, s, sync)
	}
	received, err := e.tell(ctx, s, sync)
	if err != nil {
		return Snapshot{}, err
	}
	return received, e.takePart(s, received, received, nil)
}

// remember keeps whether the last connection of a name was synchronized.
func (e *Engine) remember(s *session, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil:
		delete(e.failed, s.name)
		delete(e.absent, s.name)
		e.change()
	case s.hands && s.synced.IsZero(): // it has not shown anything
	default:
		e.failed.note(s.name)
	}
}

// tell lists for a connection and sends it Synchronize. It waits for the end of that no
// longer than a SyncTimeout: not for a peer that does not read either.
func (e *Engine) tell(ctx context.Context, s *session, sync func(context.Context, Snapshot) error) (Snapshot, error) {
	taken, err := e.list(ctx, s, e.opts.ListTimeout())
	if err != nil {
		return Snapshot{}, err
	}
	received := s.lane.shown(s, taken.correct())
	timeout := s.syncTimeout(&e.opts)
	bound, cut := context.WithTimeout(ctx, timeout)
	defer cut()
	s.lane.mu.Lock()
	s.synced = time.Now()
	s.lane.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- sync(bound, received) }()
	select {
	case err := <-done:
		if err == nil || bound.Err() == nil && !s.lost() {
			return received, err
		}
	case <-s.gone:
	case <-bound.Done():
	}
	// Whatever it came to: the time was over, or who wanted it has left.
	switch {
	case s.lost():
		return Snapshot{}, s.reason()
	case ctx.Err() != nil:
		return Snapshot{}, ctx.Err()
	}
	return Snapshot{}, fmt.Errorf("no answer within %s: %w", timeout, context.DeadlineExceeded)
}

// takePart makes a connection one that is synchronized: what it was told of, and what
// its name knew before, are its own from this instant on. now is what there is, and late what
// else it is to be told.
func (e *Engine) takePart(s *session, received, now Snapshot, late []entry) error {
	if err := e.enter(s, received, now, late); err != nil {
		return err
	}
	if e.records != nil {
		e.records.Store.Sync() // that it was there, before it is told anything
	}
	return nil
}

func (e *Engine) enter(s *session, received, now Snapshot, late []entry) error {
	l := s.lane
	e.mu.Lock()
	defer e.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.closed != nil {
		return s.closed
	}
	if l.session != s {
		return ErrClosed // it has, and its watcher has yet to see
	}
	if s.after != nil {
		l.admitUnwanted()
		received = l.answeredBy(received)
		if ends := l.ended(received, now); len(ends) > 0 {
			l.collapse(ends) // if the runtime handed in none, what has begun waits yet
			late = append(late, entry{part: l.ownPart(ends...)})
		}
	}
	former := l.ledger
	l.ledger = ledger.Synchronized(received, former)
	l.line.putBack(late...)
	if e.records != nil && l.own {
		l.takeUp(s, received, former)
	}
	s.joined, s.joinedAt = true, time.Now()
	return nil
}
