// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// An Unmet error says that a pod or container was rejected because a plugin that
// it requires has not answered for it (L20).
type Unmet struct {
	Event  Event
	Plugin string        // as the Requirement has it
	Waited time.Duration // for the plugin while it was disconnected
	// Disconnected is since when no plugin of that name is synchronized, or since when the
	// engine runs if none ever was. It is zero if one is.
	Disconnected time.Time
	Err          error // why a connected plugin has not answered, nil if none is connected
}

// Error implements error.
func (u *Unmet) Error() string { return fmt.Sprintf("%s: %s", u.Event, u.Reason()) }

// Reason returns the error without the event.
func (u *Unmet) Reason() string {
	text := "required plugin " + u.Plugin
	if !u.Disconnected.IsZero() {
		text += fmt.Sprintf(" is disconnected since %s, for %s", u.Disconnected.UTC().Format(time.RFC3339), time.Since(u.Disconnected).Round(100*time.Millisecond))
	}
	if waited := u.Waited.Round(time.Millisecond); waited > 0 {
		text += fmt.Sprintf(" (waited for it for %s)", waited)
	}
	if u.Err != nil {
		text += ": " + u.Err.Error()
	}
	return text
}

// Unwrap returns why the plugin has not answered.
func (u *Unmet) Unwrap() error { return u.Err }

// reject fails the creation because a demand is not met. failed is the failure of the
// connection that could have met it, nil if none could.
func (q *question) reject(d *demand, failed *Error) error {
	u := &Unmet{Event: q.event, Plugin: d.Plugin, Waited: d.waited}
	switch {
	case failed != nil:
		u.Err = fmt.Errorf("did not answer: %w", failed.Err)
	default:
		u.Disconnected, u.Err = q.engine.DisconnectedSince(d.Plugin), q.hindrance(d)
	}
	q.engine.opts.Observer.Rejected(u)
	return u
}

// hindrance returns why the connections of a demanded plugin do not count, nil if none exists.
func (q *question) hindrance(d *demand) error {
	switch p := q.nearest(d); {
	case p.rank == deaf:
		return fmt.Errorf("plugin %s is connected, but has not subscribed to %s", p.session.name, q.event.Kind)
	case p.rank == joining:
		return fmt.Errorf("plugin %s is connected, but %w", p.session.name, errJoining)
	case errors.Is(q.ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("too little time is left before the caller's deadline: %w", q.ctx.Err())
	}
	return nil
}

// DisconnectedSince returns since when no connection of a name, with its index or without,
// is synchronized, or since when the engine runs if none ever was. It is zero if one is.
func (e *Engine) DisconnectedSince(plugin string) time.Time {
	e.mu.Lock()
	lanes, since := e.lanes, e.since
	for name, at := range e.absent {
		_, base, _ := strings.Cut(name, "-")
		if (plugin == name || plugin == base) && at.After(since) {
			since = at
		}
	}
	e.mu.Unlock()
	for _, l := range lanes {
		switch s := l.serving(); {
		case s == nil || !l.named(plugin):
		case s.lost():
			since = time.Now() // its watcher has not noticed yet
		default:
			return time.Time{}
		}
	}
	return since
}
