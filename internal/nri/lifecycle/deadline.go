// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"sync"
	"time"
)

// A deadline is the context of one delivery: the caller's, ended also by the
// request timeout, by the loss of the connection, and when the delivery is
// over.
//
// It does what context.WithTimeout does, but later: the timer, which is most
// of the cost of that and more than all else the engine does for an event, is
// made only for those who ask for Done. A plugin that runs in the process
// often answers without it.
type deadline struct {
	context.Context // the caller's
	at              time.Time

	mu     sync.Mutex // guards what follows
	armed  context.Context
	cancel context.CancelFunc
	over   bool
}

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) {
	if at, ok := d.Context.Deadline(); ok && at.Before(d.at) {
		return at, true
	}
	return d.at, true
}

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} {
	return d.arm().Done()
}

// Err implements context.Context.
func (d *deadline) Err() error {
	d.mu.Lock()
	quiet := d.armed == nil && !d.over
	d.mu.Unlock()
	if quiet && d.Context.Err() == nil && time.Now().Before(d.at) {
		return nil
	}
	return d.arm().Err()
}

// Value implements context.Context. Once armed it finds, as package context
// looks for it, the context whose channel Done returns; so contexts derived
// from this one need no goroutine of their own.
func (d *deadline) Value(key any) any {
	d.mu.Lock()
	armed := d.armed
	d.mu.Unlock()
	if armed != nil {
		return armed.Value(key)
	}
	return d.Context.Value(key)
}

// end ends the context, as a context.CancelFunc does.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	if d.cancel != nil {
		d.cancel()
	}
}

func (d *deadline) arm() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.armed == nil {
		d.armed, d.cancel = context.WithDeadline(d.Context, d.at)
		if d.over {
			d.cancel()
		}
	}
	return d.armed
}
