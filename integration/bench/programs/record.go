// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/testkit/node"
)

const (
	ending = 30 * time.Second // how long perf may take to end

	// Samples are of each processor, per second. A frequency for all would skip events of the
	// others.
	perfSamples = "cpu-clock/freq=1000,name=clock/"
	perfEvents  = "sched:sched_process_fork,sched:sched_process_exec,sched:sched_process_exit," +
		"syscalls:sys_enter_fsync,syscalls:sys_exit_fsync,syscalls:sys_enter_fdatasync,syscalls:sys_exit_fdatasync"
)

// Check returns an error if programs cannot be recorded here, as far as can be known in advance.
func Check() error {
	if _, err := exec.LookPath("perf"); err != nil {
		return fmt.Errorf("%w: no program perf in PATH: install linux-perf", node.ErrPrerequisite)
	}
	return nil
}

// Now returns the time on the clock of a Trace.
func Now() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // this clock always exists
	}
	return time.Duration(now.Nano())
}

// Recording is a recording. It goes on until Stop.
type Recording struct {
	perf   *exec.Cmd
	stdin  io.WriteCloser // of the program that perf runs; perf ends when it is closed
	said   bytes.Buffer
	folder string
	starts *starts
}

// Record returns once the recording has started. When ctx ends, so does perf.
func Record(ctx context.Context) (_ *Recording, retErr error) {
	if err := Check(); err != nil {
		return nil, err
	}
	r := &Recording{}
	defer func() {
		if retErr != nil {
			retErr = errors.Join(retErr, r.end())
		}
	}()
	var err error
	if r.folder, err = os.MkdirTemp("", "hookline"); err != nil {
		return nil, err
	}
	if r.starts, err = listen(); err != nil {
		return nil, err
	}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	return r, r.starts.heard(ctx)
}

// start runs perf with cat, which repeats its input: its first output arrives once perf records.
// When its input is closed it ends, and perf with it.
func (r *Recording) start(ctx context.Context) error {
	perf := exec.CommandContext(ctx, "perf", "record", "--quiet", "--all-cpus", "--clockid", "CLOCK_MONOTONIC",
		"--mmap-pages", "512", "--output", r.file(), "--event", perfSamples, "--event", perfEvents, "--", "cat")
	stdin, err := perf.StdinPipe()
	if err != nil {
		return err
	}
	answer, err := perf.StdoutPipe()
	if err != nil {
		return err
	}
	perf.Stderr = &r.said
	perf.Cancel = func() error {
		_ = stdin.Close() // fails if Stop has closed it
		return nil
	}
	perf.WaitDelay = ending
	if err := perf.Start(); err != nil {
		return fmt.Errorf("start perf: %w", err)
	}
	r.perf, r.stdin = perf, stdin
	if _, err := io.WriteString(stdin, "recording\n"); err != nil {
		return fmt.Errorf("start perf: %w", err)
	}
	if _, err := bufio.NewReader(answer).ReadString('\n'); err != nil {
		return fmt.Errorf("start perf: %w", err)
	}
	return nil
}

func (r *Recording) file() string { return filepath.Join(r.folder, "perf.data") }

// Stop ends the recording, reads it, and removes its files.
func (r *Recording) Stop(ctx context.Context) (_ *Trace, retErr error) {
	defer func() { retErr = errors.Join(retErr, r.end()) }()
	if err := r.endPerf(); err != nil {
		return nil, err
	}
	if err := r.starts.close(); err != nil {
		return nil, err
	}
	script := exec.CommandContext(ctx, "perf", "script", "--input", r.file(), "--ns", "--show-lost-events",
		"--fields", "pid,tid,time,period,event,trace")
	script.Stderr = &r.said
	out, err := script.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := script.Start(); err != nil {
		return nil, fmt.Errorf("start perf script: %w", err)
	}
	trace, err := read(out, r.starts.commands)
	if err != nil {
		_, _ = io.Copy(io.Discard, out) // lets perf end
	}
	if waitErr := script.Wait(); waitErr != nil {
		err = errors.Join(err, fmt.Errorf("perf script: %w: %s", waitErr, strings.TrimSpace(r.said.String())))
	}
	return trace, err
}

// end ends the programs that still run, and removes the record.
func (r *Recording) end() error {
	errs := []error{r.endPerf()}
	if r.starts != nil {
		errs = append(errs, r.starts.close())
	}
	return errors.Join(append(errs, os.RemoveAll(r.folder))...)
}

func (r *Recording) endPerf() error {
	if r.perf == nil {
		return nil
	}
	_ = r.stdin.Close() // fails if the end of the context has closed it
	err := r.perf.Wait()
	r.perf = nil
	if err != nil {
		return fmt.Errorf("perf record: %w: %s", err, strings.TrimSpace(r.said.String()))
	}
	return nil
}
