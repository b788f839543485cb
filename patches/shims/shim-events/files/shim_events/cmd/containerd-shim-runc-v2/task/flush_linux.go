// SPDX-License-Identifier: Apache-2.0

package task

import (
	"context"
	"math"
	"time"

	"golang.org/x/sync/semaphore"
)

// flushTimeout is how long a shim's shutdown waits for containerd to take its events.
const flushTimeout = 5 * time.Second

// A flush publishes the events of a shim before the shim ends.
type flush struct {
	// exits is held once for each exit of a process, from when the exit is noticed until its event
	// is in the queue. In between, a client that waits for the exit may delete the task and shut
	// the shim down.
	exits *semaphore.Weighted
	begun chan struct{} // closed when all events are in the queue
	ended chan struct{} // closed when all are published
}

func newFlush() *flush {
	return &flush{
		exits: semaphore.NewWeighted(math.MaxInt64),
		begun: make(chan struct{}),
		ended: make(chan struct{}),
	}
}

// exit begins to handle the exit of a process. The caller calls the returned function once the
// event of the exit is in the queue.
func (f *flush) exit() func() {
	if f.exits.Acquire(context.Background(), 1) != nil {
		return func() {} // never
	}
	return func() { f.exits.Release(1) }
}

// wait is called once, by the shutdown of the shim. It returns when all events are published, or
// after a timeout, because an event that cannot be published must not keep the shim alive. It
// ignores the end of the shutdown's context, which ends when any of its callbacks fails.
func (f *flush) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	if f.exits.Acquire(ctx, math.MaxInt64) == nil {
		defer f.exits.Release(math.MaxInt64)
	}
	close(f.begun)
	select {
	case <-f.ended:
	case <-ctx.Done():
	}
	return nil
}

func (f *flush) end() { close(f.ended) }
