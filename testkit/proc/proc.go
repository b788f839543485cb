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

// PrivateMemory returns the memory of a process that no other process shares, in bytes, see
// proc_pid_smaps_rollup(5).
func PrivateMemory(pid int) (bytes int, err error) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(rollup)) {
		var part string
		var kibibytes int
		if _, err := fmt.Sscanf(line, "Private_%s %d kB", &part, &kibibytes); err == nil {
			bytes += kibibytes << 10
		}
	}
	if bytes == 0 {
		return 0, fmt.Errorf("process %d has no private memory in its summary", pid)
	}
	return bytes, nil
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
