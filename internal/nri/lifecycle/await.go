// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// await waits until each unmet demand has a connection that can meet it, for each no longer than
// its Wait. So a creation that fails because a plugin is disconnected reaches no other
// plugin. An overdue plugin fails it at once (L22).
func (q *question) await() error {
	if q.creation.met() {
		return nil
	}
	err := q.awaitAll()
	for _, d := range q.creation.demands {
		if d.waited > d.received {
			q.engine.opts.Observer.Awaited(q.event, d.Plugin, d.waited-d.received)
			d.received = d.waited
		}
	}
	return err
}

func (q *question) awaitAll() error {
	for {
		changed := q.engine.nextChange()
		missing, err := q.missing()
		switch {
		case err != nil:
			return err
		case q.creation.undone():
			return fmt.Errorf("%s: %w", q.event, ErrStopped)
		case len(missing) == 0:
			return nil
		}
		first := slices.MinFunc(missing, func(a, b *demand) int { return cmp.Compare(a.left(), b.left()) })
		if first.left() <= 0 {
			return q.reject(first, nil)
		}
		if err := q.pause(changed, missing, first); err != nil {
			return err
		}
	}
}

// missing returns the demands that no connection can meet now.
func (q *question) missing() (missing []*demand, err error) {
	for _, d := range q.creation.demands {
		if d.met {
			continue
		}
		switch p := q.nearest(d); p.rank {
		case able:
		case behind:
			return nil, q.reject(d, &Error{p.session.conn, q.event, Skip, p.overdue})
		default:
			missing = append(missing, d)
		}
	}
	return missing, nil
}

// pause waits for a change, no longer than until the first missing demand runs out of time.
func (q *question) pause(changed <-chan struct{}, missing []*demand, first *demand) error {
	start := time.Now()
	q.creation.lacks.Store(&lack{first.Plugin, start.Add(-first.waited)})
	timer := time.NewTimer(first.left())
	select {
	case <-changed:
	case <-timer.C:
	case <-q.engine.ctx.Done():
	case <-q.ctx.Done():
	}
	timer.Stop()
	q.creation.lacks.Store(nil)
	for _, d := range missing {
		d.waited += time.Since(start)
	}
	switch {
	case q.engine.ctx.Err() != nil:
		return q.reject(first, &Error{Event: q.event, Failure: Loss, Err: ErrClosed})
	case errors.Is(q.ctx.Err(), context.DeadlineExceeded):
		return q.reject(first, nil)
	case q.ctx.Err() != nil:
		return fmt.Errorf("%s: waiting for required plugin %s: %w", q.event, first.Plugin, q.ctx.Err())
	}
	return nil
}

// A lack is the disconnected plugin that a creation waits for.
type lack struct {
	plugin string
	since  time.Time
}

// nextChange returns a channel that is closed when a connection joins, leaves or is no longer
// overdue, or when an object ends whose creation may be waiting.
func (e *Engine) nextChange() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.changed == nil {
		e.changed = make(chan struct{})
	}
	return e.changed
}

// change wakes the goroutines that wait for a change. mu is held.
func (e *Engine) change() {
	if e.changed != nil {
		close(e.changed)
		e.changed = nil
	}
}

// recovered wakes them because a connection is no longer overdue.
func (e *Engine) recovered() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.change()
}
