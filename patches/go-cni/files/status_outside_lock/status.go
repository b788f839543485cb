// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"context"
	"fmt"
	"sync"
	"time"

	cnilibrary "github.com/containernetworking/cni/libcni"
)

// statusTimeout is how long STATUS of all networks may take together.
const statusTimeout = 5 * time.Second

// Status returns why the networks do not take pods: they are not loaded, or the STATUS of one
// of them says so or does not answer in five seconds. Networks of a CNI version before 1.1.0
// have no STATUS.
func (c *libcni) Status() error { return c.statusWithin(statusTimeout) }

func (c *libcni) statusWithin(timeout time.Duration) error {
	c.RLock()
	err := c.ready()
	library, networks := c.cniConfig, c.networks
	run := c.statuses.last()
	c.RUnlock()
	if err != nil {
		return err
	}
	// From here on the lock is free: a plugin that hangs keeps nobody from ADD, DEL and Load.
	if run.begins() {
		go run.ask(library, networks, timeout)
	}
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case <-run.done:
		return run.err
	case <-late.C:
		return fmt.Errorf("STATUS has not answered for %v: %w", timeout, context.DeadlineExceeded)
	}
}

// statuses has the run of STATUS that goes on, if there is one.
type statuses struct {
	mu  sync.Mutex // guards run
	run *statusRun
}

// last is the run that goes on, or a new one that has still to begin.
func (s *statuses) last() *statusRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil || s.run.ended() {
		s.run = &statusRun{done: make(chan struct{})}
	}
	return s.run
}

// forget leaves the run that goes on to those who wait for it.
func (s *statuses) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = nil
}

// A statusRun is one STATUS of all networks.
type statusRun struct {
	once sync.Once
	done chan struct{} // closed when err is what it came to
	err  error
}

// begins is true for the first who asks.
func (r *statusRun) begins() (first bool) {
	r.once.Do(func() { first = true })
	return first
}

func (r *statusRun) ask(library cnilibrary.CNI, networks []*Network, timeout time.Duration) {
	defer close(r.done)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for _, network := range networks {
		if r.err = library.GetStatusNetworkList(ctx, network.config); r.err != nil {
			return
		}
	}
}

func (r *statusRun) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}
