// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"time"
)

// A Connection is one registration of one plugin. A plugin that comes back is a new
// Connection. Two plugins of one name are two Connections: both are served, unless the newer
// one takes over, see Options.HandOver.
//
// The engine holds no lock when it calls Deliver and Close, so these may call the engine.
type Connection interface {
	// Name names the plugin in errors, such as "10-logger". It must not change.
	Name() string

	// Index is the plugin's index. Plugins are in the order of their indices, compared as
	// strings. It must not change.
	Index() string

	// Subscribed reports whether the plugin wants events of a kind. The engine calls it once
	// for each kind, when the connection joins. The engine also records events that the
	// plugin does not want: the plugin receives StopPodSandbox of a pod even if it did not
	// subscribe to RunPodSandbox.
	Subscribed(Kind) bool

	// Policy returns what follows when the plugin fails a request. The engine calls it once,
	// when the connection joins.
	Policy() Policy

	// Timeouts returns the timeouts of this plugin, where they differ from the engine's. The
	// engine calls it once, when the connection joins.
	Timeouts() Timeouts

	// Deliver sends one event and calls answer, with the plugin's reply, nil if that is
	// empty, or with an error. The error wraps ErrClosed if the connection can no longer be
	// used; any other error is the plugin's rejection.
	//
	// Deliver must not block, because its caller sends to other plugins, too. answer may
	// be called before Deliver returns, and by any goroutine. The engine calls
	// Deliver for one event at a time, and not again before answer was called (L4), even if
	// the event's caller has left or its timeout has passed.
	//
	// due tells the plugin by when it should answer. Deliver must not stop waiting then. ctx
	// has no deadline, and is done only when the answer is no longer needed, because the
	// connection is closed.
	Deliver(ctx context.Context, event Event, due time.Time, answer func(reply any, err error))

	// Closed returns a channel that is closed once the connection is closed, or nil for a
	// connection that never closes. The engine calls it with a lock held.
	Closed() <-chan struct{}

	// Close closes the connection. The engine calls it once when it has dropped the
	// connection, even if that has closed already. A Deliver that is still sending must then
	// return, even if the peer does not read.
	Close()
}

var (
	// ErrClosed is the error of a connection that closed, or of an engine that was closed.
	ErrClosed = errors.New("connection closed")

	// ErrBacklog is why a connection is dropped: more events or bytes wait for it than its
	// limits allow, or it is overdue for too long.
	ErrBacklog = errors.New("the plugin exceeds the limits of its backlog")
)
