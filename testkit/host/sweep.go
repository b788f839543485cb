// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// prefix is the start of the names of hosts' folders. That of their cgroups is "hookline-" and the
// folder's name.
const prefix = "n"

// Sweep removes the leftovers of killed runs below base (if empty, /run/hookline). Hosts in use
// stay.
func Sweep(ctx context.Context, base string) error {
	if base == "" {
		base = defaultBase
	}
	unlock, err := lockBase(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	return sweep(ctx, base)
}

// sweep needs the lock of base: a folder without a locked file may be in the middle of its creation.
func sweep(ctx context.Context, base string) error {
	entries, err := os.ReadDir(base)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), prefix) {
			continue
		}
		p := folder(filepath.Join(base, entry.Name()))
		lock, err := lockFile(p.lock(), unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			continue // its run is still going on
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		err = p.end(ctx)
		if err == nil {
			err = os.RemoveAll(string(p))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("sweep host %s: %w", entry.Name(), err))
		}
		errs = append(errs, lock.Close())
	}
	return errors.Join(errs...)
}

// claim creates the folder of a new host, and locks it as long as the file is open. It sweeps first.
func claim(ctx context.Context, base string) (folder, *os.File, error) {
	if err := os.MkdirAll(base, 0o711); err != nil {
		return "", nil, err
	}
	unlock, err := lockBase(base)
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	if err := sweep(ctx, base); err != nil {
		return "", nil, err
	}
	made, err := os.MkdirTemp(base, prefix)
	if err != nil {
		return "", nil, err
	}
	p := folder(made)
	lock, err := lockFile(p.lock(), unix.LOCK_NB)
	if err == nil {
		err = os.Chmod(made, 0o711) // pods with user namespaces go through it
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(made))
	}
	return p, lock, nil
}

// folder is that of a host, by its path.
type folder string

// lock is the file that a host in use has locked.
func (p folder) lock() string { return filepath.Join(string(p), "lock") }

// cgroup is the name of the host's cgroup.
func (p folder) cgroup() string { return "hookline-" + filepath.Base(string(p)) }

// end removes everything of a host except its folder: its processes, with them its namespaces and
// the mounts and links in these, and its cgroup.
func (p folder) end(ctx context.Context) error {
	group, err := newCgroup(p.cgroup())
	if err != nil {
		return err
	}
	return group.remove(ctx)
}

// release removes the folder of a closed host. A sweep must not see a half-removed folder without
// its lock.
func (p folder) release() error {
	unlock, err := lockBase(filepath.Dir(string(p)))
	if err != nil {
		return err
	}
	defer unlock()
	return os.RemoveAll(string(p))
}

func lockBase(base string) (unlock func(), err error) {
	lock, err := lockFile(filepath.Join(base, "lock"), 0)
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Close() }, nil
}

// lockFile opens a file and takes its lock, which is released with the last file
// descriptor, and so with this process. Children do not inherit it.
func lockFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|flags)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}
