// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Requirement is a plugin without whose answer a pod or container must not
// start (L20).
type Requirement struct {
	// Plugin is the name of the plugin, with its index as in "10-logger", or without its
	// index as in "logger" for a plugin of any index.
	Plugin string
	// Wait is how long the pod or container waits for the plugin, in all, while
	// no connection of that name can answer.
	Wait time.Duration
	// OrPresent also accepts a synchronized connection that did not subscribe to the event,
	// and so does not answer it.
	OrPresent bool
	// First has no other plugin asked before this one has answered, whatever their indices.
	First bool
}

// A demand is a requirement of one creation. Only an answer to its event meets it: a
// connection that was skipped, or is only connected, does not. Only the caller of Ask reads
// and writes it.
type demand struct {
	Requirement
	waited   time.Duration
	received time.Duration // how much of waited was reported to the observer
	failed   int           // how many latecomers have not answered
	met      bool
	asked    []*session // sessions that were asked; if it is not met, none of them will answer
}

// means reports whether the plugin of a lane has the name.
func (d *demand) means(l *lane) bool { return l.named(d.Plugin) }

// named reports whether the connection has a name, with its index or without.
func (l *lane) named(plugin string) bool {
	return plugin == l.name || plugin == strings.TrimPrefix(l.name, l.index+"-")
}

// left is how much of its Wait is left.
func (d *demand) left() time.Duration { return d.Wait - d.waited }

// demands returns the demands of a creation. Most creations have none.
func (e *Engine) demands(ctx context.Context, ev Event) ([]*demand, error) {
	if e.opts.Required == nil {
		return nil, nil
	}
	required, err := e.opts.Required(ctx, ev)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ev, err)
	}
	waited := awaitedIn(ctx)
	var demands []*demand
	for _, r := range required {
		demands = append(demands, &demand{Requirement: r, waited: waited[r.Plugin], received: waited[r.Plugin]})
	}
	return demands, nil
}

// met reports whether all demands of a creation are met.
func (c *creation) met() bool {
	return !slices.ContainsFunc(c.demands, func(d *demand) bool { return !d.met })
}

// mayAsk reports whether a connection may be asked: not while another plugin has to answer first.
func (c *creation) mayAsk(l *lane) bool {
	return c == nil || !slices.ContainsFunc(c.demands, func(d *demand) bool { return d.First && !d.met && !d.means(l) })
}

// place is 0 for a connection that is asked before others, and 1 for those. Within a place the order is that
// of their indices.
func (c *creation) place(l *lane) int {
	if slices.ContainsFunc(c.demands, func(d *demand) bool { return d.First && d.means(l) }) {
		return 0
	}
	return 1
}

// demanded reports whether the creation demands an answer of the connection that has not come yet.
func (q *question) demanded(l *lane) bool {
	return q.creation != nil && slices.ContainsFunc(q.creation.demands, func(d *demand) bool { return !d.met && d.means(l) })
}

// unfit returns why the presence of a connection does not meet a demand, nil if it does. l.mu is
// held.
func (q *question) unfit(l *lane) error {
	if !q.demanded(l) {
		return nil
	}
	switch l.presence() {
	case able:
		return nil
	case behind:
		return &Error{l.session.conn, q.event, Skip, l.overdueError()}
	}
	return errUnsent
}

var (
	// errUnsent means that a demanded connection has gone before the event was sent to it:
	// another connection of the name may answer.
	errUnsent = errors.New("disconnected before it was asked")

	// errUnanswered means that a creation must not be sealed yet.
	errUnanswered = errors.New("not all required plugins have answered")
)

// chances is how many latecomers may fail to answer a demand before it fails the creation: a
// plugin that restarts has a second chance, but peers that hang by turns block nothing (L22).
const chances = 2

// apply applies the outcome at one connection to the demands of the creation, and returns the
// error to go on with.
func (q *question) apply(l *lane, s *session, err error) error {
	var failed *Error
	answered := err == nil
	unanswered := errors.As(err, &failed) && failed.Failure != Rejection
	var lost *demand
	for _, d := range q.creation.demands {
		if d.met || !d.means(l) {
			continue
		}
		if !errors.Is(err, errUnsent) {
			d.asked = append(d.asked, s)
		}
		d.met = answered && q.suits(d, s)
		if unanswered && q.creation.isLate(l) {
			d.failed++
		}
		if p := q.nearest(d); unanswered && (p.rank != able && !p.succeeds || d.failed >= chances) {
			lost = d
		}
	}
	switch {
	case lost != nil:
		return q.reject(lost, failed)
	case unanswered:
		return q.goOn(l, s, failed)
	case errors.Is(err, errUnsent), errors.Is(err, errAbsent):
		if err := q.await(); err != nil {
			return err
		}
		return errAbsent
	}
	return err
}

// goOn handles a failed connection whose answer is demanded, while another connection of the name
// may still answer: its policy decides.
func (q *question) goOn(l *lane, s *session, failed *Error) error {
	if fail, _ := s.policy.Decide(q.event.Kind, failed.Failure); fail {
		return failed
	}
	if failed.Failure == Skip {
		q.creation.missedBy(l)
	}
	return errWithout
}

// A rank is how near a connection is to meeting a demand.
type rank uint8

const (
	absent  rank = iota
	deaf         // it has not subscribed to the event
	behind       // it is overdue
	joining      // it is not synchronized yet
	able
)

// A prospect is the connection that is nearest to meeting a demand.
type prospect struct {
	rank    rank
	session *session // nil if all are disconnected
	overdue error    // if it is behind

	succeeds bool // whether it is joining in the place of a connection that has left
}

// nearest returns the best prospect among the connections that were not asked yet.
func (q *question) nearest(d *demand) (best prospect) {
	q.engine.mu.Lock()
	lanes := q.engine.lanes
	q.engine.mu.Unlock()
	for _, l := range lanes {
		if !d.means(l) {
			continue
		}
		if p := q.prospect(d, l); p.rank > best.rank {
			best = p
		}
	}
	return best
}

// suits reports whether the connection may meet a demand.
func (q *question) suits(d *demand, s *session) bool {
	return d.OrPresent || s.subscribed(q.event.Kind)
}

func (q *question) prospect(d *demand, l *lane) prospect {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.session
	p := prospect{rank: l.presence(), session: s}
	switch {
	case p.rank == absent || slices.Contains(d.asked, s):
		return prospect{}
	case !q.suits(d, s):
		p.rank = deaf
	case p.rank == behind:
		p.overdue = l.overdueError()
	case p.rank == joining:
		p.succeeds = s.after != nil
	}
	return p
}

// presence returns the rank of the connection of a lane, whatever it has subscribed to. l.mu is
// held.
func (l *lane) presence() rank {
	switch s := l.session; {
	case s == nil || s.lost():
		return absent // also if its watcher has not noticed yet
	case l.overdue():
		return behind
	case !s.joined:
		return joining
	}
	return able
}
