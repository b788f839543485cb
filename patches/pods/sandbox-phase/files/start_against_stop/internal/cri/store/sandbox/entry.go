// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"math"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Entry is where containers come into a sandbox: each is stored, and started, inside
// of it. A stop of the sandbox closes it and waits until nobody is inside: all
// containers that can be running then are in the store, and are listed as running.
type Entry struct {
	closed atomic.Bool
	inside *semaphore.Weighted
}

const whole = math.MaxInt64 // of the entry, for who closes it

// NewEntry returns an open entry.
func NewEntry() *Entry { return &Entry{inside: semaphore.NewWeighted(whole)} }

// Enter says whether the entry is open. Who enters has to leave.
func (e *Entry) Enter() bool {
	if !e.inside.TryAcquire(1) {
		return false // it is being closed
	}
	if e.closed.Load() {
		e.inside.Release(1)
		return false
	}
	return true
}

// Leave is for who has entered.
func (e *Entry) Leave() { e.inside.Release(1) }

// Closed says whether Close was called.
func (e *Entry) Closed() bool { return e.closed.Load() }

// Close closes the entry for good, and waits until nobody is inside or ctx ends.
func (e *Entry) Close(ctx context.Context) error {
	e.closed.Store(true)
	if err := e.inside.Acquire(ctx, whole); err != nil {
		return err
	}
	e.inside.Release(whole)
	return nil
}
