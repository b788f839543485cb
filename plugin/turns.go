// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// turns lets the work of one pod come one after the other.
type turns struct {
	running sync.WaitGroup

	mu    sync.Mutex               // guards what follows
	busy  map[string]chan struct{} // the pods that have a turn, by id; closed at its end
	ended bool
}

var errEnded = errors.New("the plugin has ended")

// enter waits for a turn of the pod.
func (t *turns) enter(ctx context.Context, id string) (leave func(), err error) {
	for {
		other, err := t.try(ctx, id)
		if errors.Is(err, errEnded) {
			<-ctx.Done() // an answer would reject the pod: the runtime must see that the connection ends
		}
		if err != nil {
			return nil, fmt.Errorf("pod %s: %w", id, err)
		}
		if other == nil {
			return func() { t.leave(id) }, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fmt.Errorf("pod %s: wait for its earlier event: %w", id, ctx.Err())
		}
	}
}

// try returns the turn that the pod has already, nil if it gets one now.
func (t *turns) try(ctx context.Context, id string) (other chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil, errEnded
	}
	if err := ctx.Err(); err != nil { // what was canceled before another one's turn does not come after it
		return nil, err
	}
	if other = t.busy[id]; other == nil {
		t.busy[id] = make(chan struct{})
		t.running.Add(1)
	}
	return other, nil
}

func (t *turns) leave(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.busy[id])
	delete(t.busy, id)
	t.running.Done()
}

// end waits until no pod has a turn, and none gets one any more.
func (t *turns) end() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.running.Wait()
}
