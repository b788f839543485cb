// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/testkit/proc"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// Process is a plugin in a process of its own, which can be frozen and killed like any plugin. It
// runs this program again, which must call Act.
type Process struct {
	name   string
	cmd    *exec.Cmd
	exited chan struct{} // closed once the process has exited and was reaped

	mu    sync.Mutex
	calls []*Call
	gone  []time.Time
	out   []string
	err   error // why its record is incomplete
}

// Start starts a plugin that registers at an NRI socket. The process ends with
// Kill, or with this one.
func Start(socket string, s Script) (*Process, error) {
	p := &Process{name: s.Index + "-" + s.Name, exited: make(chan struct{})}
	if err := p.start(socket, s); err != nil {
		return nil, fmt.Errorf("start process of NRI plugin %s: %w", p.name, err)
	}
	return p, nil
}

func (p *Process) start(socket string, s Script) error {
	script, err := s.Environment(socket)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	p.cmd = exec.Command(program)
	p.cmd.Env = append(os.Environ(), script...)
	p.cmd.Stderr = os.Stderr
	record, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	return proc.StartBound(p.cmd, func() { p.follow(record) })
}

// follow reads the record until the process ends.
func (p *Process) follow(record io.Reader) {
	defer close(p.exited)
	var err error
	for lines := json.NewDecoder(record); err == nil; {
		var l line
		if err = lines.Decode(&l); err == nil {
			p.takeUp(l)
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) { // both may follow a kill
		p.mu.Lock()
		p.err = fmt.Errorf("read record of NRI plugin %s: %w", p.name, err)
		p.mu.Unlock()
	}
	_ = p.cmd.Wait() // it was killed, or printed why it ended
}

func (p *Process) takeUp(l line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !l.Gone.IsZero() {
		p.gone = append(p.gone, l.Gone)
		return
	}
	if l.KeptOut != "" {
		p.out = append(p.out, l.KeptOut)
		return
	}
	call := l.Call
	if l.Number > len(p.calls) { // the start of a call
		p.calls = append(p.calls, &call)
		return
	}
	begun := p.calls[l.Number-1]
	call.Pods, call.Containers = begun.Pods, begun.Containers
	if l.Err != "" {
		call.Err = errors.New(l.Err)
	}
	if l.Abandoned != "" {
		call.Abandoned = errors.New(l.Abandoned)
	}
	*begun = call
}

// Name returns the name by which the runtime knows the plugin.
func (p *Process) Name() string { return p.name }

// Calls returns the record so far, including events that are not answered yet. A call is in it moments
// after the plugin received it. Times are those of the process.
func (p *Process) Calls() Calls {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := make(Calls, 0, len(p.calls))
	for _, call := range p.calls {
		calls = append(calls, *call)
	}
	return calls
}

// Gone lists the times when the process lost its connections, in order.
func (p *Process) Gone() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.gone)
}

// KeptOut lists why the process could not connect, one error for each attempt.
func (p *Process) KeptOut() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.out)
}

// Freeze stops the process (SIGSTOP), and returns when it is stopped.
func (p *Process) Freeze(ctx context.Context) error {
	if err := p.signal(unix.SIGSTOP); err != nil {
		return err
	}
	return p.Frozen(ctx)
}

// Frozen waits until the process is stopped, by Freeze or by its script.
func (p *Process) Frozen(ctx context.Context) error {
	return wait.Until(ctx, "NRI plugin "+p.name+" to be frozen", func(context.Context) error {
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WSTOPPED|unix.WNOWAIT|unix.WNOHANG, nil); err != nil {
			return err
		}
		if info.Signo == 0 {
			return errors.New("it runs")
		}
		return nil
	})
}

// Thaw lets a frozen process go on.
func (p *Process) Thaw() error { return p.signal(unix.SIGCONT) }

// Kill kills the process, frozen or not, and returns when it has ended. It returns an error if the
// record is not reliable.
func (p *Process) Kill() error {
	if err := p.signal(unix.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.exited
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *Process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("send %s to NRI plugin %s: %w", s, p.name, err)
	}
	return nil
}
