// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"time"
)

// poll is how often a group is looked at that was killed. There is no event to
// wait for: who was started by a plugin is nobody's child once that is gone.
const poll = 5 * time.Millisecond

// A process is a plugin that was started.
type process struct {
	cmd   *exec.Cmd
	host  host
	ended chan struct{} // closed once it is reaped
	err   error         // what Wait returned, set before that

	// mu keeps a kill from the moment in which the process is reaped, and its
	// id may be another's.
	mu     sync.Mutex
	exited bool
}

// start starts cmd. If sweep is set, what is left of it is killed when it exits.
func start(cmd *exec.Cmd, host host, sweep bool) (*process, error) {
	host.apart(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, host: host, ended: make(chan struct{})}
	go func() {
		if host.awaitExit(cmd.Process) {
			p.exit(sweep)
		}
		p.err = cmd.Wait()
		p.exit(false)
		close(p.ended)
	}()
	return p, nil
}

// exit notes that the process has exited, and is not to be killed any more.
func (p *process) exit(sweep bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sweep {
		p.host.kill(p.cmd.Process)
	}
	p.exited = true
}

// wait waits until the process has ended, or kills it when ctx does, and then
// waits for all of its group. The error is that of ctx if the process did not
// exit by itself.
func (p *process) wait(ctx context.Context, patience time.Duration) error {
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
	}
	killed := p.kill()
	// A process the kernel does not let go of is not waited for.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	select {
	case <-p.ended:
		if !killed {
			return nil // it has answered in time, and was still listened to
		}
	case <-late.Done():
	}
	left := p.awaitGroup(late)
	switch {
	case len(left) > 0:
		return fmt.Errorf("%w, and processes %v of its group have not ended after %s", ctx.Err(), left, patience)
	case late.Err() == nil && p.host.answered(p.cmd.ProcessState):
		return nil
	}
	return ctx.Err()
}

// awaitGroup waits for all of the group of a process that was killed, and returns
// who has not ended in time.
func (p *process) awaitGroup(late context.Context) []int {
	again := time.NewTicker(poll)
	defer again.Stop()
	for {
		left := p.host.left(p.cmd.Process)
		if len(left) == 0 {
			return nil
		}
		select {
		case <-late.Done():
			return left
		case <-again.C:
		}
	}
}

// kill kills the process with all of its group, and tells whether it did: not if
// it is known to have exited by itself.
func (p *process) kill() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.exited {
		p.host.kill(p.cmd.Process)
	}
	return !p.exited
}
