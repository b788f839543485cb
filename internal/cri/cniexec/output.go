// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"context"
	"io"
	"os"
	"sync"
)

// An output is the pipe that a plugin writes to. It is read until no process holds it:
// otherwise the next write would kill a process that the plugin left.
type output struct {
	pipe *os.File      // the plugin's end, closed once the plugin was started
	read *os.File      // the other end
	all  chan struct{} // closed when all was read

	mu sync.Mutex
	bounded
}

func newOutput(b bounded) (*output, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o := &output{pipe: w, read: r, all: make(chan struct{}), bounded: b}
	go func() {
		defer close(o.all)
		_, _ = io.Copy(o, r) // fails beyond the bound
		_ = r.Close()
	}()
	return o, nil
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bounded.Write(p)
}

// await waits until all was read, or ctx ends.
func (o *output) await(ctx context.Context) {
	select {
	case <-o.all:
	case <-ctx.Done():
	}
}

// take returns the output read so far. Later output is dropped.
func (o *output) take() *bounded {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.bounded
	o.bounded = bounded{}
	return &b
}
