// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
)

// A Connection is one registration of one plugin. A plugin that comes back is
// a new Connection; two of one name are two Connections, and both are served.
//
// The engine calls it without holding a lock, so a Connection may call back
// into the engine from any of its methods.
type Connection interface {
	// Name names the plugin in errors, such as "10-logger". It must not change.
	Name() string

	// Index is the plugin's place among the others, which is that of its
	// index as a string. It must not change.
	Index() string

	// Subscribed says whether the plugin wants events of a kind. The engine
	// asks once, when the connection joins. What a plugin does not want is
	// kept in mind all the same: it gets the Stop of a pod whose Run it did
	// not subscribe to.
	Subscribed(Kind) bool

	// Deliver sends one event and returns the plugin's reply, nil if it has
	// nothing to say. It must return soon after ctx has ended. The engine
	// calls it for one event at a time.
	Deliver(ctx context.Context, event Event) (reply any, err error)

	// Failed judges an error of Deliver by the plugin's failure policy. fail
	// is what the caller of the event gets, nil to go on without the plugin;
	// it is ignored in the events of a Teardown, which nothing fails (L8).
	// drop ends the connection.
	//
	// err wraps context.DeadlineExceeded if the plugin did not answer within
	// the request timeout, and ErrClosed if the connection closed before it
	// answered. An error that comes of the caller's own context never gets
	// here: it says nothing of the plugin.
	Failed(event Event, err error) (fail error, drop bool)

	// Closed returns a channel that is closed once the connection is.
	Closed() <-chan struct{}

	// Close closes the connection; the engine calls it once it has dropped
	// it, also if it was closed already. Deliveries that are under way must
	// then return.
	Close()
}

var (
	// ErrClosed says that a connection closed, or the engine did.
	ErrClosed = errors.New("connection closed")

	// ErrBacklog is why a connection is dropped whose plugin lets more events
	// pile up than the backlog may hold.
	ErrBacklog = errors.New("too many events wait for the plugin")

	// ErrStopped refuses a creation in a pod that is being stopped, and one
	// that is itself being undone (L11).
	ErrStopped = errors.New("already stopped")
)
