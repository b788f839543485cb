// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"time"
)

// A line is what waits for the turn in a lane. Ends that the plugin missed while it was
// disconnected are ahead of all entries. After some time the two take turns, so that many
// missed ends delay no pod for longer than that (L18, L22).
type line struct {
	entries []entry
	weight  int // of the entries
	missed  []*part
	until   time.Time // when missed and entries begin to take turns
	turn    bool      // whether the last turn was that of a missed end
}

// bounds are how many events and bytes may wait for one connection.
type bounds struct{ events, bytes int }

// bounds returns the limits of a session's line. Those of a successor are twice as large until its
// line goes on, because it may have inherited a full line.
func (s *session) bounds(o *Options) bounds {
	b := bounds{o.BacklogLimit, o.BacklogBytes}
	if s.after != nil && !s.begun {
		return bounds{2 * b.events, 2 * b.bytes}
	}
	return b
}

// full returns why the line has no place for an entry of a weight, nil if it has.
func (n *line) full(weight int, b bounds) error {
	switch {
	case len(n.entries) >= b.events:
		return fmt.Errorf("%w: %d events", ErrBacklog, len(n.entries))
	case n.weight+weight > b.bytes:
		return fmt.Errorf("%w: %d events of %d bytes", ErrBacklog, len(n.entries), n.weight)
	}
	return nil
}

// push puts entries behind all others.
func (n *line) push(es ...entry) {
	for _, e := range es {
		n.weight += e.weight
	}
	n.entries = append(n.entries, es...)
}

// putBack puts entries before all others.
func (n *line) putBack(es ...entry) {
	for _, e := range es {
		n.weight += e.weight
	}
	n.entries = slices.Concat(es, n.entries)
}

// pop takes the first out of the line.
func (n *line) pop() (e entry, ok bool) {
	if n.missedFirst() {
		p := n.missed[0]
		n.missed[0] = nil
		n.missed = n.missed[1:]
		return entry{part: p}, true
	}
	if len(n.entries) == 0 {
		return entry{}, false
	}
	e = n.entries[0]
	n.entries[0] = entry{}
	if n.entries = n.entries[1:]; len(n.entries) == 0 {
		n.entries = nil
	}
	n.weight -= e.weight
	return e, true
}

func (n *line) missedFirst() bool {
	switch {
	case len(n.missed) == 0:
		return false
	case n.missed[0].again: // it is dropped soon, if it is what breaks the plugin
		return true
	case len(n.entries) == 0 || time.Now().Before(n.until):
		return true
	}
	n.turn = !n.turn
	return n.turn
}

// remove takes entries out of the line, and returns how many.
func (n *line) remove(which func(entry) bool) (removed int) {
	before := len(n.entries)
	n.entries = slices.DeleteFunc(n.entries, func(e entry) bool {
		if !which(e) {
			return false
		}
		n.weight -= e.weight
		return true
	})
	return before - len(n.entries)
}

// begins reports whether the first event of an object that ends with one of these waits in the line.
func (n *line) begins(ends []Event) bool {
	return slices.ContainsFunc(n.entries, func(e entry) bool {
		return e.late != nil && slices.ContainsFunc(ends, e.late.EndsWith)
	})
}

// callers takes the callers out of the line.
func (n *line) callers() (all []*caller) {
	n.remove(func(e entry) bool {
		if e.caller != nil {
			all = append(all, e.caller)
		}
		return e.caller != nil
	})
	return all
}

// clear empties the line, and returns the parts.
func (n *line) clear() (parts []*part) {
	parts = n.missed
	for _, e := range n.entries {
		if e.part != nil {
			parts = append(parts, e.part)
		}
	}
	*n = line{}
	return parts
}
