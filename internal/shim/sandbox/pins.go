// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// pinned are the kinds of namespaces that a mount can hold and that belong to a sandbox alone. The
// one of the network is made, and held, by containerd.
var pinned = []struct {
	kind specs.LinuxNamespaceType
	flag int
	file string // in /proc/thread-self/ns, and in the folder of a sandbox
}{
	{specs.IPCNamespace, unix.CLONE_NEWIPC, "ipc"},
	{specs.UTSNamespace, unix.CLONE_NEWUTS, "uts"},
}

// pin makes namespaces of the given kinds, mounts them in a folder, and calls inside in them. What
// was mounted when it fails stays for unpin.
func pin(folder string, kinds map[specs.LinuxNamespaceType]bool, inside func() error) ([]specs.LinuxNamespace, error) {
	var flags int
	for _, p := range pinned {
		if kinds[p.kind] {
			flags |= p.flag
		}
	}
	if flags == 0 {
		return nil, nil
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	var made []specs.LinuxNamespace
	err := onThread(func() error {
		if err := unix.Unshare(flags); err != nil {
			return fmt.Errorf("make namespaces: %w", err)
		}
		for _, p := range pinned {
			if !kinds[p.kind] {
				continue
			}
			path := filepath.Join(folder, p.file)
			if err := os.WriteFile(path, nil, 0o400); err != nil {
				return err
			}
			if err := unix.Mount("/proc/thread-self/ns/"+p.file, path, "", unix.MS_BIND, ""); err != nil {
				return &fs.PathError{Op: "mount a namespace on", Path: path, Err: err}
			}
			made = append(made, specs.LinuxNamespace{Type: p.kind, Path: path})
		}
		return inside()
	})
	return made, err
}

// unpin unmounts the namespaces in a folder. Processes in them keep them.
func unpin(folder string) error {
	var errs []error
	for _, p := range pinned {
		errs = append(errs, unmount(filepath.Join(folder, p.file)))
	}
	return errors.Join(errs...)
}

// unmount removes all mounts of a path. It is no error if there are none.
func unmount(path string) error {
	for {
		switch err := unix.Unmount(path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); {
		case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT):
			return nil
		case err != nil:
			return &fs.PathError{Op: "unmount", Path: path, Err: err}
		}
	}
}

// enter calls do in namespaces that have a path.
func enter(namespaces []specs.LinuxNamespace, do func() error) error {
	return onThread(func() error {
		for _, n := range namespaces {
			if err := join(n.Path); err != nil {
				return err
			}
		}
		return do()
	})
}

// join moves the thread to a namespace.
func join(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := unix.Setns(int(f.Fd()), 0); err != nil {
		return &fs.PathError{Op: "enter", Path: path, Err: err}
	}
	return nil
}
