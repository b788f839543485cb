// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"math"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Entry guards the containers of a sandbox: a container is stored, and started, only inside of
// the entry. A stop of the sandbox closes the entry, and waits until it is empty. All
// containers that can run then are in the store, and are listed as running.
type Entry struct {
	closed atomic.Bool
	inside *semaphore.Weighted
}

const whole = math.MaxInt64 // the weight that Close acquires

// NewEntry returns an open entry.
func NewEntry() *Entry { return &Entry{inside: semaphore.NewWeighted(whole)} }

// Enter reports whether the entry is open. If so, the caller must call Leave.
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

// Leave undoes an Enter that succeeded.
func (e *Entry) Leave() { e.inside.Release(1) }

// Closed reports whether Close was called.
func (e *Entry) Closed() bool { return e.closed.Load() }

// Close closes the entry for good, and waits until it is empty or ctx ends.
func (e *Entry) Close(ctx context.Context) error {
	e.closed.Store(true)
	if err := e.inside.Acquire(ctx, whole); err != nil {
		return err
	}
	e.inside.Release(whole)
	return nil
}
