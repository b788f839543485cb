// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"os/exec"
	"syscall"
)

// dieTogether has the kernel end a program with us: what we started must not
// write on when the lock is gone.
func dieTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
