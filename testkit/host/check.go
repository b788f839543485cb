// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrPrerequisite is wrapped by errors about a missing prerequisite of the machine. Their text is one
// line that names it and says what to do.
var ErrPrerequisite = errors.New("missing prerequisite")

// Check returns an error if no host can be made here, as far as can be seen without making one. Its
// errors wrap ErrPrerequisite.
func Check() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: not root: a node needs namespaces, mounts and cgroups, run as root", ErrPrerequisite)
	}
	filesystems, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		return fmt.Errorf("%w: /proc is not mounted: %w", ErrPrerequisite, err)
	}
	if !strings.Contains(string(filesystems), "\toverlay\n") {
		return fmt.Errorf("%w: the kernel has no overlayfs: load its module (modprobe overlay)", ErrPrerequisite)
	}
	_, err = hierarchies()
	return err
}

// Executable returns an error unless a folder has a program. command is the command that builds the
// program. Its errors wrap ErrPrerequisite.
func Executable(folder, name, command string) error {
	path := filepath.Join(folder, name)
	if info, err := os.Stat(path); err != nil || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%w: no program %s: run `%s`", ErrPrerequisite, path, command)
	}
	return nil
}
