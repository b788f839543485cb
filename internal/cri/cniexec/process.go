// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"time"
)

// poll is the interval at which a killed group is checked. There is no event to wait for: the
// children of a plugin are not the runtime's once the plugin is gone.
const poll = 5 * time.Millisecond

// A process is a plugin that was started.
type process struct {
	cmd   *exec.Cmd
	host  host
	ended chan struct{} // closed once it is reaped, and its output read or Grace over
	err   error         // of Wait, set before ended is closed

	stdout, stderr *output

	// mu keeps a kill from hitting a process that was reaped, whose id may be
	// another's by then.
	mu     sync.Mutex
	exited bool
}

// start starts cmd. If sweep is set, the rest of its group is killed when it exits.
func start(cmd *exec.Cmd, host host, sweep bool) (*process, error) {
	host.apart(cmd)
	stdout, err := newOutput(bounded{limit: MaxOutput, strict: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = stdout.pipe.Close() }()
	stderr, err := newOutput(bounded{limit: maxDiagnostics})
	if err != nil {
		return nil, err
	}
	defer func() { _ = stderr.pipe.Close() }()
	cmd.Stdout, cmd.Stderr = stdout.pipe, stderr.pipe
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, host: host, ended: make(chan struct{}), stdout: stdout, stderr: stderr}
	go func() {
		defer close(p.ended)
		if host.awaitExit(cmd.Process) {
			p.exit(sweep)
		}
		p.err = cmd.Wait()
		p.exit(false)
		late, cancel := context.WithTimeout(context.Background(), Grace)
		defer cancel()
		for _, o := range []*output{stdout, stderr} {
			if o.await(late); sweep { // the output of a process that has left the group is not read
				_ = o.read.Close()
			}
		}
	}()
	return p, nil
}

// exit records that the process has exited, and must not be killed any more.
func (p *process) exit(sweep bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sweep {
		p.host.kill(p.cmd.Process)
	}
	p.exited = true
}

// wait waits until the process has exited, or kills it when ctx ends and then waits
// for its group. The error is that of ctx if the process did not exit by itself.
func (p *process) wait(ctx context.Context, patience time.Duration) error {
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
	}
	killed := p.kill()
	// The kernel may not end a process: then the wait ends after patience.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	select {
	case <-p.ended:
		if !killed {
			return nil // it has answered in time, and its output was still read
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

// awaitGroup waits for the group of a killed process, and returns the ids of the processes that
// have not ended in time.
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

// kill kills the process and its group, unless the process has exited by itself. It reports
// whether it killed them.
func (p *process) kill() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.exited {
		p.host.kill(p.cmd.Process)
	}
	return !p.exited
}
