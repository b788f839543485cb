// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Reply answers one event. It may read the call, set Adjust and Update in it, wait, or reject. The
// context is the runtime's: it ends when the runtime no longer waits for the answer, or the
// connection is lost.
type Reply func(ctx context.Context, call *Call) error

// Fail rejects an event with an error of the given text.
func Fail(text string) Reply {
	return func(context.Context, *Call) error { return errors.New(text) }
}

// Delay approves after d, or as soon as the runtime stops waiting.
func Delay(d time.Duration) Reply {
	return func(ctx context.Context, _ *Call) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Crash closes the connection of the event instead of answering.
func Crash(_ context.Context, call *Call) error {
	p := call.plugin
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.number == call.Connection {
		p.crash()
	}
	return errors.New("plugin crashed")
}

// Gate holds events until it is released.
type Gate struct {
	entered, released chan struct{}
	enter, release    sync.Once
}

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{entered: make(chan struct{}), released: make(chan struct{})}
}

// Hold is a Reply that approves once the gate is released. Until then it hangs, even after the
// runtime no longer waits, like a plugin with a deadlock.
func (g *Gate) Hold(context.Context, *Call) error {
	g.enter.Do(func() { close(g.entered) })
	<-g.released
	return nil
}

// Entered is closed when the first event has reached the gate.
func (g *Gate) Entered() <-chan struct{} { return g.entered }

// Release releases all events that wait at the gate, and those that come later.
func (g *Gate) Release() { g.release.Do(func() { close(g.released) }) }
