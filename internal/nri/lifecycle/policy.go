// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"time"
)

// A Policy is what a plugin and the runtime have agreed on for requests that
// fail.
type Policy struct {
	// FailRequest fails a request that the plugin does not answer. Without it
	// the request goes on without the plugin.
	FailRequest bool
	// KeepConnected keeps a plugin whose answer did not come in time.
	KeepConnected bool
	// Permanent keeps a plugin whatever it does: one that is part of the runtime
	// does not come back.
	Permanent bool
}

// A Failure is a way in which a plugin fails a request.
type Failure uint8

const (
	// Rejection is when the plugin answered with an error.
	Rejection Failure = iota + 1
	// Timeout is when it did not answer within the request timeout (L16).
	Timeout
	// Loss is when its connection was lost before it answered.
	Loss
	// Skip is when it was not asked, since it still is overdue to another request.
	Skip
)

var failureNames = [...]string{Rejection: "rejection", Timeout: "timeout", Loss: "loss", Skip: "skip"}

// String returns the failure in a word.
func (f Failure) String() string {
	if f == 0 || int(f) >= len(failureNames) {
		return fmt.Sprintf("Failure(%d)", uint8(f))
	}
	return failureNames[f]
}

// Decide says what becomes of a request of a kind that the plugin failed, and
// of the connection. It is all there is to decide, for every request, also for
// those that waited for their turn.
//
// A rejection is an answer and fails the request. A plugin that validates what
// others made has to be heard, so without its answer the request fails. Ends are
// never failed (L8): what this says of them is whether the caller is told.
func (p Policy) Decide(k Kind, f Failure) (fail, drop bool) {
	fail = f == Rejection || p.FailRequest || k == ValidateContainerAdjustment
	drop = f == Loss || f == Timeout && !p.KeepConnected
	return fail, drop && !p.Permanent
}

// An Error says which connection failed a request, and how.
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

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }

// An Overdue error says that a plugin was not asked, because it is overdue.
type Overdue struct {
	Event Event         // that it has not answered
	For   time.Duration // since when it was sent
}

// Error implements error.
func (o *Overdue) Error() string {
	return fmt.Sprintf("it has not answered %s for %s", o.Event, o.For.Round(100*time.Millisecond))
}

// Unwrap returns context.DeadlineExceeded: the plugin has not answered in time.
func (o *Overdue) Unwrap() error { return context.DeadlineExceeded }
