// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// A creation is a pod or container whose first event is under way. That of a
// container lasts on, sealed, until the runtime lists the container itself:
// from when all agreed, those who join must find it in their Synchronize.
type creation struct {
	event  Event
	since  time.Time
	sealed bool // guarded by Engine.mu

	doomed atomic.Bool // its end was handed in; set before that is in any lane
	asking atomic.Pointer[lane]
}

// undone says whether the creation must not go on. Asked with a lane's lock
// held, it says whether the end may be in that lane: if not, the creation's
// event comes before it.
func (c *creation) undone() bool { return c != nil && c.doomed.Load() }

func (c *creation) waitFor(l *lane) {
	if c != nil {
		c.asking.Store(l)
	}
}

// create asks all connections of a first event, those that join meanwhile too.
func (e *Engine) create(ctx context.Context, ev Event, each func(Connection, any) error) (err error) {
	c := &creation{event: ev, since: time.Now()}
	if err := e.conceive(c); err != nil {
		return fmt.Errorf("%s: %w", ev, err)
	}
	defer func() {
		if err != nil {
			e.forgo(c)
		}
	}()
	if ev.Container != "" && !e.opts.Alive(ev.Pod) {
		return fmt.Errorf("%s: %w", ev, ErrStopped)
	}

	var asked uint64 // all that joined up to this one were asked
	for {
		lanes, last, err := e.unasked(c, asked)
		if err != nil {
			return fmt.Errorf("%s: %w", ev, err)
		}
		if lanes == nil {
			return nil
		}
		for _, l := range lanes {
			if l.seq <= asked {
				continue
			}
			if err := e.ask(ctx, l, ev, c, each); err != nil {
				return err
			}
		}
		asked = last
	}
}

// conceive enters a creation, unless its pod is stopped. An object whose id was
// that of one that was removed is another one.
func (e *Engine) conceive(c *creation) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.endings.forget(c.event.object())
	if e.endings.phase(object{pod: c.event.Pod}) != alive {
		return ErrStopped
	}
	e.creations[c.event.object()] = c
	return nil
}

// unasked returns the connections if any joined after number asked, and the
// number of the last. If none did, it seals the creation in the same instant:
// so no plugin falls between those that were asked and those that find it in
// their Synchronize.
func (e *Engine) unasked(c *creation, asked uint64) (lanes []*lane, last uint64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.undone() {
		return nil, 0, ErrStopped
	}
	if e.joins > asked && len(e.lanes) > 0 {
		return e.lanes, e.joins, nil
	}
	c.sealed = true
	if c.event.Container == "" {
		// The runtime lists pods by itself from their first resource on.
		delete(e.creations, c.event.object())
		if e.opts.OmitCreating {
			e.agreed[c.event.Pod] = true
		}
	}
	return nil, 0, nil
}

// forgo takes out a creation that failed.
func (e *Engine) forgo(c *creation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := c.event.object(); e.creations[o] == c {
		delete(e.creations, o)
	}
}

// listed takes out the creation of a container that the runtime lists now.
func (e *Engine) listed(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.creations, ev.object())
}
