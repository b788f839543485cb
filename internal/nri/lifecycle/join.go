// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"
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
	l, err := e.enroll(conn)
	if err != nil {
		conn.Close()
		return fmt.Errorf("synchronize plugin %s: %w", conn.Name(), err)
	}
	var snapshot Snapshot
	if l.hands {
		snapshot, err = e.handOver(ctx, l, sync)
	} else {
		snapshot, err = e.synchronize(ctx, l, sync)
	}
	e.remember(l, err)
	if err != nil {
		err = fmt.Errorf("synchronize plugin %s: %w", conn.Name(), err)
		e.drop(l, err)
		return err
	}
	e.opts.Observer.Joined(conn, time.Since(l.since), len(snapshot.Pods), len(snapshot.Containers))
	l.mu.Lock()
	l.passOn()
	l.mu.Unlock()
	return nil
}

// enroll adds a connection to those that are told of ends, its turn taken. One that
// may be a successor is told of none before it is known that it is not.
func (e *Engine) enroll(conn Connection) (*lane, error) {
	l := &lane{
		engine: e,
		conn:   conn,
		policy: conn.Policy(),
		name:   conn.Name(),
		index:  conn.Index(),
		gone:   make(chan struct{}),
		out:    make(chan struct{}),
		since:  time.Now(),
		held:   true,
		ledger: newLedger(),

		timeouts: conn.Timeouts(),
		hands:    e.opts.HandOver(conn.Name()) && !conn.Policy().Permanent,
	}
	for k := Synchronize; k < kinds; k++ {
		if conn.Subscribed(k) {
			l.wants |= 1 << k
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	l.failed = e.failed[l.name]
	if l.hands {
		e.pending = insert(e.pending, l)
	} else {
		e.lanes = insert(e.lanes, l)
	}
	e.work.Add(1)
	go e.watch(l)
	return l, nil
}

// names is how many names of plugins that failed to be synchronized the engine
// remembers.
const names = 1024

// remember keeps whether the last connection of a name was synchronized.
func (e *Engine) remember(l *lane, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil:
		delete(e.failed, l.name)
		delete(e.absent, l.name)
		e.change()
	case l.hands && !l.wasTold(): // it has not shown anything
	case len(e.failed) < names:
		e.failed[l.name] = true
	}
}

// synchronize lists, sends, and seeds the ledger.
func (e *Engine) synchronize(ctx context.Context, l *lane, sync func(context.Context, Snapshot) error) (Snapshot, error) {
	taken, err := e.list(ctx, l)
	if err != nil {
		return Snapshot{}, err
	}
	snapshot := taken.correct()
	if err := l.tellAll(ctx, snapshot, sync); err != nil {
		return Snapshot{}, err
	}
	for {
		former, err := e.takePart(l, snapshot)
		if err != nil {
			return Snapshot{}, err
		}
		if former == nil {
			break
		}
		e.seeOut(former)
	}
	if e.opts.Owed != nil {
		e.opts.Owed.Sync() // that it was there, before it is told anything
	}
	return snapshot, nil
}

// tellAll sends Synchronize, and waits for its end no longer than a SyncTimeout:
// not for a peer that does not read either.
func (l *lane) tellAll(ctx context.Context, snapshot Snapshot, sync func(context.Context, Snapshot) error) error {
	timeout := l.syncTimeout()
	bound, cut := context.WithTimeout(ctx, timeout)
	defer cut()
	l.mu.Lock()
	l.cut, l.synced = cut, time.Now()
	closed := l.closed
	l.mu.Unlock()
	if closed != nil {
		return closed
	}
	done := make(chan error, 1)
	go func() { done <- sync(bound, snapshot) }()
	select {
	case err := <-done:
		if err == nil || bound.Err() == nil {
			return err
		}
	case <-bound.Done():
	}
	// Whatever it came to: the time was over, or who wanted it has left.
	switch {
	case l.lost():
		return l.reason()
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("no answer within %s: %w", timeout, context.DeadlineExceeded)
}
