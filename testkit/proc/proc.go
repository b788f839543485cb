// SPDX-License-Identifier: Apache-2.0

// Package proc starts programs that end with this one, and reads the kernel's status of a process, see
// proc_pid_status(5).
package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Status returns a line of a process's status. name is the start of the line, with its colon, which is
// left out.
func Status(pid int, name string) (string, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("status of process %d has no line %s", pid, name)
}

// Ignores reports whether a process ignores a signal.
func Ignores(pid int, signal syscall.Signal) (bool, error) {
	mask, err := Status(pid, "SigIgn:")
	if err != nil {
		return false, err
	}
	bits, err := strconv.ParseUint(mask, 16, 64)
	return bits&(1<<(signal-1)) != 0, err
}
