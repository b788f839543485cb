// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// Daemon is a program that runs on a host until it is ended, and can be started again.
type Daemon struct {
	host *Host
	name string

	cmd    *exec.Cmd
	exited chan struct{} // closed once the program has exited and was reaped
}

// Daemon returns a program to be started, by the name of its log.
func (h *Host) Daemon(name string) *Daemon { return &Daemon{host: h, name: name} }

// start starts the program. Its output is appended to its log.
func (d *Daemon) start(cmd *exec.Cmd) error {
	log, err := os.OpenFile(d.file(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the program has its own by then
	cmd.Dir = d.host.Folder()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C in a terminal is for the caller, which closes the host
	if err := d.host.Start(cmd); err != nil {
		return fmt.Errorf("start %s: %w", d.name, err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its ProcessState has the result
		close(exited)
	}()
	d.cmd, d.exited = cmd, exited
	return nil
}

// Boot starts the program, and returns when it is ready.
func (d *Daemon) Boot(ctx context.Context, cmd *exec.Cmd, ready func(context.Context) error) error {
	if err := d.start(cmd); err != nil {
		return err
	}
	err := wait.Until(ctx, d.name, func(ctx context.Context) error {
		if err := d.alive(); err != nil {
			return err
		}
		return ready(ctx)
	})
	if err != nil {
		return d.WithLog(err)
	}
	return nil
}

// Accept returns an error unless all sockets take connections. Call it before a client of gRPC
// connects, which waits before it retries a failed connection.
func Accept(ctx context.Context, sockets ...string) error {
	for _, socket := range sockets {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
		if err != nil {
			return err
		}
		if err := conn.Close(); err != nil {
			return err
		}
	}
	return nil
}

// End sends a signal, and waits until the program has exited.
func (d *Daemon) End(ctx context.Context, signal syscall.Signal) error {
	if err := d.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to %s: %w", signal, d.name, err)
	}
	select {
	case <-d.exited:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for %s to exit after %s: %w", d.name, signal, ctx.Err())
	}
}

// PID returns its process id, until it is ended.
func (d *Daemon) PID() int { return d.cmd.Process.Pid }

// alive returns an error that ends a wait if the program has exited.
func (d *Daemon) alive() error {
	select {
	case <-d.exited:
		return fmt.Errorf("%w: %s exited: %s", wait.ErrPermanent, d.name, d.cmd.ProcessState)
	default:
		return nil
	}
}

// Log returns its output so far.
func (d *Daemon) Log() (string, error) {
	content, err := os.ReadFile(d.file())
	return string(content), err
}

// WithLog adds the last lines of the log to an error.
func (d *Daemon) WithLog(err error) error {
	log, logErr := d.Log()
	if logErr != nil {
		return errors.Join(err, logErr)
	}
	const last = 20
	lines := strings.Split(strings.TrimSpace(log), "\n")
	lines = lines[max(0, len(lines)-last):]
	return fmt.Errorf("%w; the end of %s's log:\n%s", err, d.name, strings.Join(lines, "\n"))
}

func (d *Daemon) file() string { return filepath.Join(d.host.Folder(), d.name+".log") }
