// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// statusTimeout is how long STATUS of all networks may take together.
const statusTimeout = 10 * time.Second

// Status returns an error if the networks cannot take pods: they are not loaded, or the STATUS
// of one of them fails or does not answer in ten seconds. Networks of a CNI version before
// 1.1.0 have no STATUS.
func (c *libcni) Status() error { return c.statusWithin(statusTimeout) }

func (c *libcni) statusWithin(timeout time.Duration) error {
	c.RLock()
	err := c.ready()
	library, networks := c.cniConfig, c.networks
	c.RUnlock()
	if err != nil {
		return err
	}
	// From here on the lock is free: a plugin that hangs does not block ADD, DEL and Load.
	run := c.statuses.join(timeout, func(ctx context.Context) error {
		for _, network := range networks {
			if err := library.GetStatusNetworkList(ctx, network.config); err != nil {
				return err
			}
		}
		return nil
	})
	<-run.ctx.Done()
	select {
	case <-run.done:
		return run.err
	default:
		return fmt.Errorf("STATUS has not answered for %v: %w", timeout, run.ctx.Err())
	}
}

// statuses has the current run of STATUS, if any.
type statuses struct {
	mu  sync.Mutex // guards run
	run *statusRun
}

// A statusRun is one STATUS of all networks.
type statusRun struct {
	ctx  context.Context // until the run ends, or its time is up
	done chan struct{}   // closed when err is set
	err  error
}

// join returns the current run, or begins one. A run whose time is up may never end, since a
// plugin can leave a child that holds its output. It is abandoned.
func (s *statuses) join(timeout time.Duration, ask func(context.Context) error) *statusRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil && s.run.ctx.Err() == nil {
		return s.run
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	run := &statusRun{ctx: ctx, done: make(chan struct{})}
	go func() {
		defer cancel()
		defer close(run.done)
		run.err = ask(ctx)
	}()
	s.run = run
	return run
}

// forget abandons the current run. Its callers still get its result.
func (s *statuses) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = nil
}
