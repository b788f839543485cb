// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"os/exec"
	"syscall"
)

// dieTogether has the kernel kill a program when this process dies, since the program must not
// write any more once the lock is released.
func dieTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
