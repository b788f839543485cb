// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"context"
	"os/exec"
	"sync"
	"time"
)

// A process is a plugin that was started.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed once it is reaped
	err   error         // what Wait returned, set before that

	// mu keeps a kill from the moment in which the process is reaped, and its
	// id may be another's.
	mu     sync.Mutex
	exited bool
}

// start starts cmd in a process group of its own. If sweep is set, the group
// is killed when cmd exits.
func start(cmd *exec.Cmd, sweep bool) (*process, error) {
	apart(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		awaitExit(cmd.Process)
		p.mu.Lock()
		if sweep {
			killGroup(cmd.Process)
		}
		p.exited = true
		p.mu.Unlock()
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// wait waits until the process has ended, or kills it when ctx does. The error
// is that of ctx if the process did not exit by itself.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
	}
	p.kill()
	// A process the kernel does not let go of is not waited for.
	late := time.NewTimer(2 * Grace)
	defer late.Stop()
	select {
	case <-p.ended:
		if state := p.cmd.ProcessState; state != nil && state.Exited() {
			return nil // it has answered in time, and was still listened to
		}
	case <-late.C:
	}
	return ctx.Err()
}

// kill kills the process group, unless the plugin exited by itself.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.exited {
		killGroup(p.cmd.Process)
	}
}
