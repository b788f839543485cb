// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// A Status is what the engine is doing, for an operator.
type Status struct {
	Connections []ConnectionStatus // in index order
	Creations   []CreationStatus   // the oldest first
}

// A ConnectionStatus is the state of one connection.
type ConnectionStatus struct {
	Conn  Connection
	Since time.Time // when it registered
	// Joined is set once it was synchronized.
	Joined bool
	// TakesOver is set while it is to take over from another connection of its name, or
	// waits for its successor to leave. It receives no other events meanwhile.
	TakesOver bool
	// Depth is how many events wait in its lane.
	Depth int
	// Current is the event that the plugin has not answered yet, of kind 0 if
	// there is none, and CurrentSince is when it was sent.
	Current      Event
	CurrentSince time.Time
	// Overdue is set if the timeout of Current has passed: the plugin receives nothing
	// until it answers.
	Overdue bool
	// LastError is the error of the last delivery that failed, at LastErrorAt.
	LastError   error
	LastErrorAt time.Time
	// Pods and Containers are how many the plugin knows.
	Pods, Containers int
}

// A CreationStatus is a pod or container whose first event is under way, or a container that
// all plugins have approved and that the runtime has not listed yet.
type CreationStatus struct {
	Event Event
	Since time.Time
	// Asking is the connection whose answer it waits for, nil if none.
	Asking Connection
	// Lacks is the disconnected required plugin that it waits for, empty if none, and
	// LacksSince is when that wait began.
	Lacks      string
	LacksSince time.Time
}

// Status returns what the engine is doing now.
func (e *Engine) Status() Status {
	e.mu.Lock()
	var s Status
	for _, c := range e.creations {
		st := CreationStatus{Event: c.event, Since: c.since}
		if s := c.asking.Load(); s != nil {
			st.Asking = s.conn
		}
		if lack := c.lacks.Load(); lack != nil {
			st.Lacks, st.LacksSince = lack.plugin, lack.since
		}
		s.Creations = append(s.Creations, st)
	}
	sessions := slices.SortedFunc(maps.Keys(e.sessions), func(a, b *session) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.nth, b.nth))
	})
	sessions = slices.DeleteFunc(sessions, func(s *session) bool { return s.closed != nil })
	lanes := make([]*lane, len(sessions))
	for i, s := range sessions {
		lanes[i] = s.lane
	}
	e.mu.Unlock()
	slices.SortFunc(s.Creations, func(a, b CreationStatus) int { return a.Since.Compare(b.Since) })
	for i, one := range sessions {
		s.Connections = append(s.Connections, lanes[i].status(one))
	}
	return s
}

// status returns the status of a connection. l is nil if it has no lane yet.
func (l *lane) status(s *session) ConnectionStatus {
	c := ConnectionStatus{Conn: s.conn, Since: s.since, TakesOver: true}
	if l == nil {
		return c
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Joined, c.LastError, c.LastErrorAt = s.joined, s.failure, s.failureAt
	if l.session == s {
		c.TakesOver = false
		c.Depth = len(l.line.entries)
		c.Overdue = l.overdue()
		c.Pods, c.Containers = l.ledger.Count()
	}
	switch r := l.current; {
	case !s.joined:
		c.Current, c.CurrentSince = Event{Kind: Synchronize}, s.since
		if !s.synced.IsZero() {
			c.CurrentSince = s.synced
		}
	case r != nil && r.session == s:
		c.Current, c.CurrentSince = r.event, r.sent
	}
	return c
}
