// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// command is a program to run.
type command struct {
	dir    string
	env    []string
	stdin  io.Reader
	stdout io.Writer // nil: returned
	args   []string
}

// run returns the stdout of the program. The error has its stderr, or its stdout if stderr is
// empty.
func (c command) run(ctx context.Context) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, c.env, c.stdin, &stdout, &stderr
	if c.stdout != nil {
		cmd.Stdout = c.stdout
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	// The thread must live on: the death signal follows the thread that started the program,
	// not the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dieTogether(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return stdout.String(), cause(ctx, err)
		}
		said := strings.TrimSpace(stderr.String())
		if said == "" {
			said = strings.TrimSpace(stdout.String())
		}
		return stdout.String(), &failure{program: c.args[0], err: err, said: said}
	}
	return stdout.String(), nil
}

// failure is the error of a program.
type failure struct {
	program string
	err     error
	said    string
}

func (f *failure) Unwrap() error { return f.err }

func (f *failure) Error() string {
	switch {
	case f.said == "":
		return fmt.Sprintf("%s: %v", f.program, f.err)
	case strings.Contains(f.said, "\n"):
		return fmt.Sprintf("%s: %v:\n%s", f.program, f.err, f.said)
	}
	return fmt.Sprintf("%s: %s", f.program, f.said)
}

// environ returns this process's environment without the variables that have one of the prefixes,
// and with the given ones.
func environ(without []string, with ...string) []string {
	var env []string
next:
	for _, v := range os.Environ() {
		for _, p := range without {
			if strings.HasPrefix(v, p) {
				continue next
			}
		}
		env = append(env, v)
	}
	return append(env, with...)
}
