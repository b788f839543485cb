// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"time"
)

// A Policy decides what follows when a plugin fails a request.
type Policy struct {
	// FailRequest fails a request that the plugin does not answer. Without it
	// the request goes on without the plugin.
	FailRequest bool
	// KeepConnected keeps a plugin connected that did not answer in time.
	KeepConnected bool
	// Permanent never drops the plugin: a plugin that is part of the runtime does not
	// come back.
	Permanent bool
}

// A Failure is a way in which a plugin fails a request.
type Failure uint8

const (
	// Rejection means that the plugin answered with an error.
	Rejection Failure = iota + 1
	// Timeout means that it did not answer within the request timeout (L16).
	Timeout
	// Loss means that its connection was lost before it answered.
	Loss
	// Skip means that it was not asked, because it is overdue.
	Skip
)

var failureNames = [...]string{Rejection: "rejection", Timeout: "timeout", Loss: "loss", Skip: "skip"}

// String returns the name of the failure.
func (f Failure) String() string {
	if f == 0 || int(f) >= len(failureNames) {
		return fmt.Sprintf("Failure(%d)", uint8(f))
	}
	return failureNames[f]
}

// Decide returns whether a failure of the plugin fails a request of a kind, and whether the
// connection is dropped. It decides for every request, also for requests that waited for their
// turn.
//
// A rejection is an answer and fails the request. A request that the plugin validates fails
// without its answer. An end never fails (L8): for an end, fail is whether the caller's error
// has the failure.
func (p Policy) Decide(k Kind, f Failure) (fail, drop bool) {
	fail = f == Rejection || p.FailRequest || k == ValidateContainerAdjustment
	drop = f == Loss || f == Timeout && !p.KeepConnected
	return fail, drop && !p.Permanent
}

// An Error is the failure of a request by a connection.
type Error struct {
	Conn    Connection
	Event   Event
	Failure Failure
	Err     error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Failure == Rejection {
		return fmt.Sprintf("%s: plugin %s rejected: %v", e.Event, e.Conn.Name(), e.Err)
	}
	return fmt.Sprintf("%s: plugin %s did not answer: %v", e.Event, e.Conn.Name(), e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// An Overdue error says that a plugin was not asked, because it is overdue.
type Overdue struct {
	Event Event         // the event that it has not answered
	For   time.Duration // the time since that was sent
}

// Error implements error.
func (o *Overdue) Error() string {
	return fmt.Sprintf("it has not answered %s for %s", o.Event, o.For.Round(100*time.Millisecond))
}

// Unwrap returns context.DeadlineExceeded: the plugin did not answer in time.
func (o *Overdue) Unwrap() error { return context.DeadlineExceeded }
