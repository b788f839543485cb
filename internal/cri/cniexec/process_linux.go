// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// awaitExit waits for the process to exit and leaves it to be reaped, so that
// until then nobody else can have its id, nor that of its group.
func awaitExit(p *os.Process) {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func killGroup(p *os.Process) {
	// What there is to kill may be gone already.
	_ = unix.Kill(-p.Pid, unix.SIGKILL)
}
