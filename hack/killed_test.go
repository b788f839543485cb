// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/script"
)

// killer stands in for a program: it does the same work, and at the given call kills its caller,
// before or after the work.
const killer = `#!/bin/sh
echo >>"$CALLS"
calls=$(wc -l <"$CALLS")
[ "$KILL" = before ] && [ $calls -eq "$AT" ] && kill -9 $PPID
%s "$@"
status=$?
[ "$KILL" = after ] && [ $calls -eq "$AT" ] && kill -9 $PPID
exit $status
`

// A run is killed at each of the programs that it starts. The next run gives the same commits,
// complete repositories and clean work trees.
func TestKilledAnywhere(t *testing.T) {
	k := killing{env: newUpstream(t), repo: filepath.Join(t.TempDir(), "repo")}
	require.NoError(t, writeRepo(k.repo))
	for _, test := range []struct {
		command, program string
		calls            int // at least so many places to be killed at
	}{
		{"apply", "git", 10},
		{"build", "go", 3},
	} {
		t.Run(test.command, func(t *testing.T) {
			whole := filepath.Join(t.TempDir(), "whole")
			require.NoError(t, k.hack(t, whole, test.command))
			want := state(t, whole)
			for _, kill := range []string{"before", "after"} {
				at := 1
				for ; ; at++ {
					out := filepath.Join(t.TempDir(), "out")
					if !k.killed(t, out, test.command, test.program, kill, at) {
						break // it makes fewer calls
					}
					require.NoError(t, k.hack(t, out, test.command))
					require.Equal(t, want, state(t, out), "after a run was killed %s call %d of %s", kill, at, test.program)
				}
				require.Greater(t, at, test.calls)
			}
		})
	}
}

type killing struct {
	env  []string
	repo string
}

// hack runs a command, which may fail only by being killed.
func (k killing) hack(t *testing.T, out, command string, env ...string) error {
	cmd := exec.CommandContext(t.Context(), "hack", "--output", out, command)
	cmd.Dir = k.repo
	cmd.Env = append(append(os.Environ(), k.env...), env...)
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return err
	}
	require.NoError(t, err, "%s", said)
	return nil
}

// killed runs a command that is killed at a call of a program, and reports whether it made that call.
func (k killing) killed(t *testing.T, out, command, program, kill string, at int) bool {
	bin := t.TempDir()
	path, err := exec.LookPath(program)
	require.NoError(t, err)
	require.NoError(t, script.Write(filepath.Join(bin, program), fmt.Sprintf(killer, path)))
	return k.hack(t, out, command, "PATH="+bin+":"+os.Getenv("PATH"),
		"CALLS="+filepath.Join(bin, "calls"), "KILL="+kill, fmt.Sprint("AT=", at)) != nil
}

// state returns everything in an output folder that must be the same after each run.
func state(t *testing.T, out string) string {
	var state strings.Builder
	say := func(name string, args ...string) {
		said, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
		require.NoError(t, err, "%s %v: %s", name, args, said)
		state.Write(said)
	}
	for _, module := range []string{"greet", "hall"} {
		src := filepath.Join(out, "src", module)
		say("git", "-C", src, "for-each-ref")
		say("git", "-C", src, "rev-parse", "HEAD")
		say("git", "-C", src, "status", "--porcelain", "--ignored")
		say("git", "-C", src, "fsck", "--no-dangling")
	}
	if hall := filepath.Join(out, "bin", "hall"); exists(hall) {
		say(hall)
	}
	return state.String()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
