// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// odd returns functions that put something into a folder of containerd's, or in its place, that
// containerd does not put there. Each first empties the folder.
func odd(folder string) map[string]func() error {
	path := filepath.Join(folder, "alien")
	in := func(put func() error) func() error {
		return func() error {
			return errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o700), put())
		}
	}
	return map[string]func() error{
		"a folder":          in(func() error { return os.MkdirAll(filepath.Join(path, "lost+found"), 0o700) }),
		"an empty file":     in(func() error { return os.WriteFile(path, nil, 0o600) }),
		"an alien file":     in(func() error { return os.WriteFile(path, []byte("notes\n"), 0o600) }),
		"a pipe":            in(func() error { return unix.Mkfifo(path, 0o600) }),
		"a link to nowhere": in(func() error { return os.Symlink("nowhere", path) }),
		"a file in place of the folder": func() error {
			return errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600))
		},
	}
}
