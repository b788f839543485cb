// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// becomes moves this process to the cgroups and the user of the script.
func (s Script) becomes() error {
	for _, cgroup := range s.Cgroups {
		if err := os.WriteFile(filepath.Join(cgroup, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
			return fmt.Errorf("go to cgroup %s: %w", cgroup, err)
		}
	}
	if s.User == 0 {
		return nil
	}
	if err := syscall.Setuid(s.User); err != nil {
		return fmt.Errorf("become user %d: %w", s.User, err)
	}
	// It must end with its parent: a change of the user has reset that.
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}
