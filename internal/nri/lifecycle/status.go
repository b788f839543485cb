// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"
)

// A Status is what the engine is doing, for those who look at a node.
type Status struct {
	Connections []ConnectionStatus // in index order
	Creations   []CreationStatus   // the oldest first
}

// A ConnectionStatus is the state of one connection.
type ConnectionStatus struct {
	Conn  Connection
	Since time.Time // when it came in
	// Joined is set once it was synchronized.
	Joined bool
	// TakesOver is set while it is to take over from another one of its name, or waits
	// for one to leave that has taken over from it. It is told of nothing else meanwhile.
	TakesOver bool
	// Depth is how many events wait in its lane.
	Depth int
	// Current is the event that the plugin has not answered yet, of kind 0 if
	// there is none, and CurrentSince is when it was sent.
	Current      Event
	CurrentSince time.Time
	// Overdue is set if the plugin should have answered that by now: until it
	// does it is asked nothing.
	Overdue bool
	// LastError is why the last delivery failed that did, at LastErrorAt.
	LastError   error
	LastErrorAt time.Time
	// Pods and Containers are how many the plugin knows of.
	Pods, Containers int
}

// A CreationStatus is a pod or container whose first event is under way, or
// a container that all agreed to and that the runtime has not yet listed.
type CreationStatus struct {
	Event Event
	Since time.Time
	// Asking is the connection whose answer it waits for, nil if none.
	Asking Connection
	// Lacks is the required plugin that is away and that it waits for, empty if
	// none, and LacksSince is since when it does.
	Lacks      string
	LacksSince time.Time
}

// Status returns what the engine is doing now.
func (e *Engine) Status() Status {
	e.mu.Lock()
	lanes, pending := e.lanes, e.pending
	for _, l := range e.pending {
		lanes = insert(lanes, l)
	}
	var s Status
	for _, c := range e.creations {
		st := CreationStatus{Event: c.event, Since: c.since}
		if l := c.asking.Load(); l != nil {
			st.Asking = l.conn
		}
		if lack := c.lacks.Load(); lack != nil {
			st.Lacks, st.LacksSince = lack.plugin, lack.since
		}
		s.Creations = append(s.Creations, st)
	}
	e.mu.Unlock()
	slices.SortFunc(s.Creations, func(a, b CreationStatus) int { return a.Since.Compare(b.Since) })
	for _, l := range lanes {
		c := l.status()
		c.TakesOver = slices.Contains(pending, l)
		s.Connections = append(s.Connections, c)
	}
	return s
}

func (l *lane) status() ConnectionStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := ConnectionStatus{
		Conn:        l.conn,
		Since:       l.since,
		Joined:      l.joined,
		Depth:       len(l.line),
		Overdue:     l.overdue(),
		LastError:   l.failure,
		LastErrorAt: l.failureAt,
		Pods:        len(l.ledger.pods),
		Containers:  len(l.ledger.containers),
	}
	switch {
	case l.current != nil:
		s.Current, s.CurrentSince = l.current.event, l.current.sent
	case l.cut != nil:
		s.Current, s.CurrentSince = Event{Kind: Synchronize}, l.synced
	case !l.joined:
		s.Current, s.CurrentSince = Event{Kind: Synchronize}, l.since
	}
	return s
}
