// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// left reads all of /proc: the kernel reports only whether a group is empty, and counts
// processes that wait to be reaped.
func (groups) left(p *os.Process) (pids []int) {
	if err := unix.Kill(-p.Pid, 0); errors.Is(err, unix.ESRCH) {
		return nil
	}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // fails only for a bad pattern
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil || !runsIn(p.Pid, string(stat)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Indexes of the fields that follow the name of a process, see proc_pid_stat(5).
const (
	statState   = 0
	statGroup   = 2
	statThreads = 17
)

// runsIn reports whether stat is that of a process of the group that has not ended. Its first
// thread may have ended while another is still in a system call.
func runsIn(group int, stat string) bool {
	// The name may contain any character, also the one that ends it.
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) <= statThreads || fields[statGroup] != strconv.Itoa(group) {
		return false
	}
	dead := fields[statState] == "Z" || fields[statState] == "X"
	return !dead || fields[statThreads] != "0" && fields[statThreads] != "1"
}
