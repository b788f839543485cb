// SPDX-License-Identifier: Apache-2.0

package task

import (
	"context"
	"math"
	"time"

	"golang.org/x/sync/semaphore"
)

// flushTimeout is how long a shim that is shut down waits for containerd to take its events.
const flushTimeout = 5 * time.Second

// A flush has the events of a shim published before it ends.
type flush struct {
	// exits is held, once for each, from when a process is seen to have exited until its event
	// is in the queue: a client that waits for the exit may delete the task and shut the
	// shim down in between.
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

// exit begins to handle the exit of a process. Its event is in the queue when the function is
// called that it returns.
func (f *flush) exit() func() {
	if f.exits.Acquire(context.Background(), 1) != nil {
		return func() {} // never
	}
	return func() { f.exits.Release(1) }
}

// wait is called once, by the shutdown of the shim. It ends when all events are published, or
// after a timeout: an event that cannot be published keeps no shim. The context of a shutdown
// ends with the first of its callbacks that fails, which is no reason to lose events.
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
