// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// begin enters the delivery of an event that is about to be sent, and makes
// its context. The caller holds the turn, and l.mu.
func (l *lane) begin(ctx context.Context, ev Event) *deadline {
	d := &deadline{Context: ctx}
	l.current, l.started, l.bound = ev, time.Now(), d
	return d
}

// deliver sends the event that begin entered and settles what became of it:
// err is what went wrong, and fail what the plugin's policy makes of that, nil
// to go on without the plugin. late, if not nil, says whether nobody waits for
// it any longer. The caller holds the turn, and gets l.mu back.
func (l *lane) deliver(d *deadline, ev Event, waited time.Duration, late *atomic.Bool) (reply any, err, fail error) {
	d.at = l.started.Add(l.engine.opts.RequestTimeout())
	reply, err = l.conn.Deliver(d, ev)

	rec := Delivery{Conn: l.conn, Event: ev, Outcome: Answered, Waited: waited, Took: time.Since(l.started)}
	var drop bool
	if err != nil {
		rec.Outcome, err = l.judge(d, ev, err)
		if rec.Outcome == Canceled {
			fail = err
		} else {
			fail, drop = l.conn.Failed(ev, err)
		}
		rec.Err = err
	}
	d.end()
	rec.Late = late != nil && late.Load()
	l.engine.opts.Observer.Delivered(rec)
	if drop {
		l.engine.drop(l, err)
	}

	l.mu.Lock()
	l.current, l.bound = Event{}, nil
	if err != nil {
		l.failure, l.failed = err, time.Now()
	}
	return reply, err, fail
}

// judge says what an error of Deliver means. Only with a caller who is still
// there does it say anything of the plugin, and only the clock says that the
// request timed out: d may have ended in this very moment by its caller.
func (l *lane) judge(d *deadline, ev Event, err error) (Outcome, error) {
	switch {
	case d.Context.Err() != nil:
		return Canceled, fmt.Errorf("%s: asking plugin %s: %w", ev, l.name, also(err, d.Context.Err()))
	case l.lost():
		return Lost, also(err, ErrClosed)
	case !time.Now().Before(d.at):
		return TimedOut, fmt.Errorf("no answer within %s: %w", d.at.Sub(l.started), also(err, context.DeadlineExceeded))
	}
	return Refused, err
}

// also returns an error that is both err and what.
func also(err, what error) error {
	if errors.Is(err, what) {
		return err
	}
	return fmt.Errorf("%w: %w", what, err)
}

// lost says whether the connection is closed, whoever noticed first.
func (l *lane) lost() bool {
	select {
	case <-l.gone:
		return true
	case <-l.conn.Closed():
		return true
	default:
		return false
	}
}
