// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"os/exec"
	"runtime"
	"syscall"
)

// StartBound starts a program that ends with this process at the latest. follow runs in the background
// until the end of the program, which it must wait for.
func StartBound(cmd *exec.Cmd, follow func()) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		// For Linux the parent is the thread, which must not end before the program.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			follow()
		}
	}()
	return <-started
}
