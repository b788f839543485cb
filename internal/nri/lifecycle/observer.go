// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"time"
)

// An Observer is called for all that the engine does, for metrics and logs
// (L17). Its methods are called without a lock, from several goroutines, and
// while pods wait: they must be quick.
type Observer interface {
	// Delivered is called when an event ended for a connection that
	// subscribed to it.
	Delivered(Delivery)

	// Recovered is called when a connection answered an event that had ended
	// without its answer: its caller had left, or its timeout had passed. took is
	// the time since the event was sent.
	Recovered(conn Connection, event Event, took time.Duration)

	// Joined is called when a connection was synchronized. took is the time since it
	// registered. pods and containers are how many its Synchronize had.
	Joined(conn Connection, took time.Duration, pods, containers int)

	// Awaited is called when a pod or container has waited for a required plugin that was
	// disconnected, whether the plugin connected or not. plugin is as in its Requirement.
	Awaited(event Event, plugin string, waited time.Duration)

	// Rejected is called when a pod or container is rejected because a required plugin has
	// not answered.
	Rejected(*Unmet)

	// Left is called once for each connection that registered, synchronized or not, when
	// its line is empty. An event that ended in the instant in which the connection closed
	// may be reported after that, by the goroutine that handles its end. reason is ErrClosed
	// if the connection closed by itself, and otherwise wraps why it was dropped.
	Left(conn Connection, reason error)
}

// A Delivery is the outcome of one event at one connection.
type Delivery struct {
	// Context is the request's context, only for its values: it may have ended.
	Context context.Context
	Conn    Connection
	Event   Event
	Outcome Outcome
	// Waited is how long the event waited before it was sent, for the plugin's earlier
	// requests.
	Waited time.Duration
	// Took is the time that the plugin took, zero if the event was not sent.
	Took time.Duration
	// Late is set for an end whose caller no longer waited, for a first event that the plugin
	// had missed, and for what holds after an update.
	Late bool
	// Missed is set for an end that came while no connection of the name existed, or that
	// an earlier connection had not answered.
	Missed bool
	// Err is set unless the plugin answered.
	Err error
}

// An Outcome is how a delivery ended.
type Outcome uint8

const (
	// Answered means that the plugin replied.
	Answered Outcome = iota + 1
	// Rejected means that the plugin answered with an error, or the event could not be sent to it.
	Rejected
	// TimedOut means that the plugin did not answer within the request timeout.
	TimedOut
	// Canceled means that the caller canceled after the event was sent.
	Canceled
	// Withdrawn means that the caller canceled before the event was sent.
	Withdrawn
	// Lost means that the connection closed first.
	Lost
	// Abandoned means that the connection was lost, as earlier ones of its name, and the end is
	// not sent again.
	Abandoned
	// Skipped means that the plugin was not asked, for example because it was overdue or was not
	// synchronized yet.
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

// String returns the name of the outcome.
func (o Outcome) String() string {
	if o == 0 || int(o) >= len(outcomeNames) {
		return "unknown"
	}
	return outcomeNames[o]
}

// unobserved is the default observer.
type unobserved struct{}

func (unobserved) Delivered(Delivery)                         {}
func (unobserved) Recovered(Connection, Event, time.Duration) {}
func (unobserved) Joined(Connection, time.Duration, int, int) {}
func (unobserved) Awaited(Event, string, time.Duration)       {}
func (unobserved) Rejected(*Unmet)                            {}
func (unobserved) Left(Connection, error)                     {}
