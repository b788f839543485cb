// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// event is a line of perf script.
type event struct {
	process, thread int
	at, period      time.Duration
	name, detail    string
}

// line matches an event, with the fields that Stop asks for. A thread that has ended is -1.
var line = regexp.MustCompile(`^\s*(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s+(\w+(?::\w+)?):\s*(.*)$`)

func readEvent(text string) (e event, err error) {
	m := line.FindStringSubmatch(text)
	if m == nil {
		return e, fmt.Errorf("perf script: not an event: %q", text)
	}
	var numbers [5]int
	for i := range numbers {
		if numbers[i], err = strconv.Atoi(m[i+1]); err != nil {
			return e, fmt.Errorf("perf script: %q: %w", text, err)
		}
	}
	return event{
		process: numbers[0], thread: numbers[1],
		at: time.Duration(numbers[2])*time.Second + time.Duration(numbers[3]), period: time.Duration(numbers[4]),
		name: m[6], detail: m[7],
	}, nil
}

// reader makes a trace from events in their order.
type reader struct {
	trace    *Trace
	running  map[int]*Program // by process; of a process that was only forked, the program of its parent
	syncing  map[int]int      // by thread, the index of its current wait
	commands map[int][]command
}

// read makes a trace from the output of perf script and from command lines by process.
func read(script io.Reader, commands map[int][]command) (*Trace, error) {
	r := &reader{
		trace: &Trace{}, running: map[int]*Program{}, syncing: map[int]int{}, commands: commands,
	}
	lines := bufio.NewScanner(script)
	for lines.Scan() {
		text := lines.Text()
		if strings.TrimSpace(text) == "" {
			continue
		}
		if strings.Contains(text, "PERF_RECORD_LOST") {
			return nil, errors.New("perf lost events: the machine is too busy to tell what ran")
		}
		e, err := readEvent(text)
		if err != nil {
			return nil, err
		}
		if err := r.take(e); err != nil {
			return nil, fmt.Errorf("perf script: %q: %w", text, err)
		}
	}
	return r.trace, lines.Err()
}

func (r *reader) take(e event) error {
	switch e.name {
	case "sched:sched_process_fork":
		child, err := strconv.Atoi(valueOf(e.detail, "child_pid="))
		r.running[child] = r.running[e.process]
		return err
	case "sched:sched_process_exec":
		r.exec(e)
	case "sched:sched_process_exit":
		r.exit(e)
	case "syscalls:sys_enter_fsync", "syscalls:sys_enter_fdatasync":
		r.syncing[e.thread] = len(r.trace.Waits)
		r.trace.Waits = append(r.trace.Waits, Wait{Process: e.process, Program: r.running[e.process], At: e.at})
	case "syscalls:sys_exit_fsync", "syscalls:sys_exit_fdatasync":
		if i, ok := r.syncing[e.thread]; ok {
			r.trace.Waits[i].Took = e.at - r.trace.Waits[i].At
			delete(r.syncing, e.thread)
		}
	case "clock":
		r.trace.Samples = append(r.trace.Samples, Sample{Process: e.process, Program: r.running[e.process], At: e.at, Took: e.period})
	default:
		return errors.New("not an event that was asked for")
	}
	return nil
}

func (r *reader) exec(e event) {
	p := &Program{
		Process: e.process, Path: valueOf(e.detail, "filename="), Start: e.at,
		Parent: r.running[e.process], command: closest(r.commands[e.process], e.at),
	}
	if p.Parent != nil && p.Parent.Process == e.process {
		p.Parent.End = e.at
	}
	r.running[e.process] = p
	r.trace.Programs = append(r.trace.Programs, p)
}

// exit ends a program with its process. Older kernels do not say which of its threads is the last.
func (r *reader) exit(e event) {
	last := e.process == e.thread
	if dead := valueOf(e.detail, "group_dead="); dead != "" {
		last = dead == "true"
	}
	if !last {
		return
	}
	if p := r.running[e.process]; p != nil && p.Process == e.process {
		p.End, p.Exited = e.at, true
	}
	delete(r.running, e.process)
}

// closest is the command that was noted with a start. The kernel reports a start twice within
// moments, and not so soon another one of the same process id.
func closest(noted []command, at time.Duration) command {
	const moments = 5 * time.Millisecond
	for _, c := range noted {
		if (c.at - at).Abs() < moments {
			return c
		}
	}
	return command{}
}

// valueOf returns the value after a name, up to a space.
func valueOf(detail, name string) string {
	_, after, _ := strings.Cut(detail, name)
	value, _, _ := strings.Cut(after, " ")
	return value
}
