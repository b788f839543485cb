// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"time"
)

// A Connection is one registration of one plugin. A plugin that comes back is
// a new Connection; two of one name are two Connections, and both are served unless
// the newer one takes over, see Options.HandOver.
//
// The engine calls Deliver and Close without holding a lock, so a Connection may call back
// into the engine from these.
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

	// Policy says what becomes of requests that the plugin fails. The engine
	// asks once, when the connection joins.
	Policy() Policy

	// Timeouts says how long the plugin may take, where that is not as long as any
	// other. The engine asks once, when the connection joins.
	Timeouts() Timeouts

	// Deliver sends one event and calls answer with the plugin's reply, nil if
	// it has nothing to say, or with an error: one that wraps ErrClosed if the
	// connection is of no use any more, and else what the plugin rejected with.
	//
	// Deliver must not block: whoever calls it has others to send to. answer may
	// be called before Deliver returns, and by any goroutine. The engine calls
	// Deliver for one event at a time, and not again before answer was called
	// (L4), whatever became of the event's caller and of its timeout.
	//
	// The plugin has to answer until due, for the plugin to know: nothing ends
	// then. ctx has no deadline, and is done only when nobody wants the answer any
	// more, because the connection is closed.
	Deliver(ctx context.Context, event Event, due time.Time, answer func(reply any, err error))

	// Closed returns a channel that is closed once the connection is, and nil
	// for a connection that cannot be. It is called with a lock held.
	Closed() <-chan struct{}

	// Close closes the connection; the engine calls it once it has dropped
	// it, also if it was closed already. What is being sent must then return,
	// also where the peer reads nothing.
	Close()
}

var (
	// ErrClosed says that a connection closed, or the engine did.
	ErrClosed = errors.New("connection closed")

	// ErrBacklog is why a connection is dropped for which more waits than its
	// backlog may hold.
	ErrBacklog = errors.New("too much waits for the plugin")
)
