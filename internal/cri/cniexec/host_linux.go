// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

var system host = groups{}

// groups is a host with process groups.
type groups struct{}

func (groups) apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func (groups) awaitExit(p *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

func (groups) kill(p *os.Process) { _ = unix.Kill(-p.Pid, unix.SIGKILL) }

func (groups) answered(state *os.ProcessState) bool { return state != nil && state.Exited() }
