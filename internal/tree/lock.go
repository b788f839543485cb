// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lock keeps two runs from using one output folder. The kernel releases it when its holder exits,
// even if it is killed, so a stale lock file locks nothing.
type lock struct{ file *os.File }

func acquire(path, purpose string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, unwritable(filepath.Dir(path), err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		holder := "another run"
		if b, err := io.ReadAll(io.LimitReader(f, 200)); err == nil && len(b) > 0 {
			holder = strings.TrimSpace(string(b))
		}
		_ = f.Close()
		return nil, fmt.Errorf("%s is in use by %s: wait until it ends, or choose another folder with --output", filepath.Dir(path), holder)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintf(f, "pid %d (%s)\n", os.Getpid(), purpose)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &lock{f}, nil
}

// release leaves the file in place: if it were removed, two runs could lock two files of that
// name.
func (l *lock) release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}
