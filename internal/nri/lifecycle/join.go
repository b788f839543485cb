// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// ErrList means that the runtime did not return its list in time.
var ErrList = errors.New("the runtime has not listed its pods")

// Join adds a connection and returns once its plugin was synchronized. It lists the pods and
// containers with Options.List. From then on the connection takes part in every event.
// Events that come while it is being synchronized wait in its lane. No caller waits longer than
// one SyncTimeout for that (L13).
//
// sync sends the list, corrected by what the engine knows, to the plugin, in any number of
// messages. It must return soon after the connection was closed. That happens when the
// plugin's SyncTimeout has passed, which is the deadline of its context. While sync runs, the
// plugin receives no events. So the caller must apply the changes that the plugin's reply
// asks for after Join has returned.
//
// If Join fails, the connection is closed, and callers that waited for its answer go on
// without it.
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
	s.lane.changes() // the next connection of the name may have its turn
	return nil
}

// bringIn gives a connection its lane, and synchronizes it.
func (e *Engine) bringIn(ctx context.Context, s *session, sync func(context.Context, Snapshot) error) (Snapshot, error) {
	if err := e.comeIn(ctx, s); err != nil {
		return Snapshot{}, err
	}
	if s.lane.isNext(s) {
		return e.succeed(ctx, s, sync)
	}
	received, err := e.synchronize(ctx, s, sync)
	if err != nil {
		return Snapshot{}, err
	}
	return received, e.takePart(s, received, received, nil)
}

// remember records whether the last connection of a name was synchronized.
func (e *Engine) remember(s *session, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil:
		delete(e.failed, s.name)
		delete(e.absent, s.name)
		e.change()
	case s.hands && s.synced.IsZero(): // its Synchronize was not sent
	case errors.Is(s.closed, ErrOff): // nor is it to blame for that
	default:
		e.failed.note(s.name)
	}
}

// synchronize takes an inventory for a connection and sends it Synchronize. It waits no longer
// than a SyncTimeout for the end of that, also if the peer does not read.
func (e *Engine) synchronize(ctx context.Context, s *session, sync func(context.Context, Snapshot) error) (Snapshot, error) {
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
	// The time is over, or the connection or the caller has gone: the outcome does not matter.
	switch {
	case s.lost():
		return Snapshot{}, s.reason()
	case ctx.Err() != nil:
		return Snapshot{}, ctx.Err()
	}
	return Snapshot{}, fmt.Errorf("no answer within %s: %w", timeout, context.DeadlineExceeded)
}

// takePart makes a connection synchronized: from this instant on it knows received, and what
// its name knew before. now is what exists now, and late has the events that it must still
// receive.
func (e *Engine) takePart(s *session, received, now Snapshot, late []entry) error {
	if err := e.enter(s, received, now, late); err != nil {
		return err
	}
	if e.records != nil {
		e.records.Store.Sync() // that it has joined, before it receives any event
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
		return ErrClosed // its watcher has not noticed yet
	}
	if s.after != nil {
		l.admitUnwanted()
		received = l.answeredBy(received)
		if ends := l.ended(received, now); len(ends) > 0 {
			l.collapse(ends) // if the runtime submitted none, their first events still wait
			late = append(late, entry{part: l.ownPart(ends...)})
		}
	}
	former := l.ledger
	l.ledger = ledger.Synchronized(received, former)
	l.line.putBack(late...)
	l.whatChanged(s)
	if e.records != nil && l.own {
		l.takeUp(s, received, former)
	}
	s.joined, s.joinedAt = true, time.Now()
	return nil
}
