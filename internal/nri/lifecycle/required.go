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
	// Plugin is the name of the plugin, with its index as in "10-logger" or, for
	// any index, without as in "logger".
	Plugin string
	// Wait is how long the pod or container waits for the plugin, in all, while
	// no connection of that name is there that can answer.
	Wait time.Duration
	// OrPresent has a connection do that did not subscribe to the event, and so
	// has nothing to answer.
	OrPresent bool
}

// A demand is a requirement of one creation. It is met by an answer to this
// very event: not by a connection that is there, and not by one that was passed
// over. The caller of Ask alone reads and writes it.
type demand struct {
	Requirement
	waited   time.Duration
	received time.Duration // how much of that the observer knows of
	failed   int           // connections that have come in since the creation began, and have not answered it
	met      bool
	asked    []*session // whose answer will not come any more, unless it is met
}

// means says whether the plugin of a lane has the name.
func (d *demand) means(l *lane) bool { return l.named(d.Plugin) }

// named says whether the connection has a name, with its index or without.
func (l *lane) named(plugin string) bool {
	return plugin == l.name || plugin == strings.TrimPrefix(l.name, l.index+"-")
}

// left is how long it may still be waited for.
func (d *demand) left() time.Duration { return d.Wait - d.waited }

// demands returns what a creation demands, for most nothing.
func (e *Engine) demands(ctx context.Context, ev Event) ([]*demand, error) {
	if e.opts.Required == nil {
		return nil, nil
	}
	required, err := e.opts.Required(ev)
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

// met says whether all demands of a creation are.
func (c *creation) met() bool {
	return !slices.ContainsFunc(c.demands, func(d *demand) bool { return !d.met })
}

// demanded says whether an answer of the connection is demanded, and is still to
// come.
func (q *question) demanded(l *lane) bool {
	return q.creation != nil && slices.ContainsFunc(q.creation.demands, func(d *demand) bool { return !d.met && d.means(l) })
}

// unfit says why a connection is not there whose presence alone is demanded, nil if it is.
// l.mu is held.
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
	// errUnsent is what becomes of an event whose answer is demanded, and whose
	// connection went before it was sent: the next one of the name will do.
	errUnsent = errors.New("gone before it was asked")

	// errUnanswered rejects the seal.
	errUnanswered = errors.New("not all required plugins have answered")
)

// chances is how many connections that come in since a creation began may fail to answer it before
// what it demands is lost: one that is started again gets another one, and peers that hang by
// turns hold up nothing (L22).
const chances = 2

// apply holds what came of asking a connection against what the creation demands,
// and returns what is to be made of it.
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

// goOn does, by its policy, without a connection whose answer is demanded, since
// there is another one of the name.
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
	deaf         // it has not subscribed to such events
	behind       // it is overdue, and is not asked
	joining      // it is still to be synchronized
	able
)

// A prospect is the connection that is nearest to meeting a demand.
type prospect struct {
	rank    rank
	session *session // nil if all are disconnected
	overdue error    // if it is behind

	succeeds bool // whether it is joining in the place of one that was there
}

// nearest looks among the connections that were not asked yet.
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

// suits says whether the connection is one that a demand may be met by.
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

// presence says how far the connection of a lane is there, whatever it has subscribed to. l.mu is
// held.
func (l *lane) presence() rank {
	switch s := l.session; {
	case s == nil || s.lost():
		return absent // also if the watcher has yet to notice
	case l.overdue():
		return behind
	case !s.joined:
		return joining
	}
	return able
}
