// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"time"
)

// An Observer is told of all that the engine does, for metrics and logs
// (L17). Its methods are called without a lock, from several goroutines, and
// on the way of pods: they must be quick.
type Observer interface {
	// Delivered is called when an event ended for a connection that
	// subscribed to it.
	Delivered(Delivery)

	// Recovered is called when a connection answered an event that had ended
	// without its answer: its caller had left, or its timeout had passed. took is
	// the time since it was sent.
	Recovered(conn Connection, event Event, took time.Duration)

	// Joined is called when a connection was synchronized. took is the time
	// since it came in, pods and containers are how many it was told of.
	Joined(conn Connection, took time.Duration, pods, containers int)

	// Awaited is called when a pod or container has waited for a plugin that it
	// requires and that was disconnected, whether it came or not. plugin is as in its
	// Requirement.
	Awaited(event Event, plugin string, waited time.Duration)

	// Rejected is called when a pod or container is rejected for want of a plugin that
	// it requires.
	Rejected(*Unmet)

	// Left is called once for each connection that came in, synchronized or not, when
	// the line of what it was still to be told is empty. What ended in the instant in
	// which it closed may be recorded after that: those who were at it do so themselves,
	// and nobody waits for them. reason is ErrClosed if the connection closed of itself,
	// and otherwise wraps why it was dropped.
	Left(conn Connection, reason error)
}

// A Delivery is what became of one event at one connection.
type Delivery struct {
	// Context is that of the request, for its values alone: it may have ended.
	Context context.Context
	Conn    Connection
	Event   Event
	Outcome Outcome
	// Waited is the time from when the event was meant for the plugin to when
	// it was sent: the wait for the plugin's earlier requests.
	Waited time.Duration
	// Took is the time the plugin took, zero if it was not sent.
	Took time.Duration
	// Late is set for an end that nobody waited for any longer, and for a first
	// event that the plugin had missed.
	Late bool
	// Missed is set for an end that came while no connection of the name was there, or
	// that an earlier one had not answered.
	Missed bool
	// Err is set unless the plugin answered.
	Err error
}

// An Outcome says how a delivery ended.
type Outcome uint8

const (
	// Answered is when the plugin replied.
	Answered Outcome = iota + 1
	// Rejected is when the plugin, or the way to it, answered with an error.
	Rejected
	// TimedOut is when the plugin did not answer within the request timeout.
	TimedOut
	// Canceled is when the caller gave up after the event was sent.
	Canceled
	// Withdrawn is when the caller gave up before the event was sent.
	Withdrawn
	// Lost is when the connection closed first.
	Lost
	// Abandoned is when the connection was lost, as others of the name before it, and the
	// plugin is not told of the end any more.
	Abandoned
	// Skipped is when the plugin was not asked, since it was overdue or was still
	// to be synchronized.
	Skipped
)

var outcomeNames = [...]string{
	Answered:  "answered",
	Rejected:  "rejected",
	TimedOut:  "timed out",
	Canceled:  "canceled",
	Withdrawn: "withdrawn",
	Lost:      "lost",
	Abandoned: "abandoned",
	Skipped:   "skipped",
}

// String returns the outcome in words.
func (o Outcome) String() string {
	if o == 0 || int(o) >= len(outcomeNames) {
		return "unknown"
	}
	return outcomeNames[o]
}

// unobserved is the observer of an engine that was given none.
type unobserved struct{}

func (unobserved) Delivered(Delivery)                         {}
func (unobserved) Recovered(Connection, Event, time.Duration) {}
func (unobserved) Joined(Connection, time.Duration, int, int) {}
func (unobserved) Awaited(Event, string, time.Duration)       {}
func (unobserved) Rejected(*Unmet)                            {}
func (unobserved) Left(Connection, error)                     {}
