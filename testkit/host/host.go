// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// defaultBase is the folder of hosts. It belongs to root, and its path is short
// enough for the paths of sockets.
const defaultBase = "/run/hookline"

// patience is how long removing a host may take.
const patience = 30 * time.Second

// Host is a place for a runtime, its programs and its pods.
type Host struct {
	folder folder
	lock   *os.File
	group  cgroup
	ns     *namespaces
}

// New makes a host below base, which must not be below /var/lib; if it is empty, /run/hookline. It
// first removes the leftovers of killed runs. On error nothing of the host is left.
func New(ctx context.Context, base string) (_ *Host, retErr error) {
	if base == "" {
		base = defaultBase
	}
	f, lock, err := claim(ctx, base)
	if err != nil {
		return nil, fmt.Errorf("make folder of host: %w", err)
	}
	h := &Host{folder: f, lock: lock}
	defer func() {
		if retErr != nil {
			retErr = errors.Join(retErr, h.Close())
		}
	}()
	if h.group, err = newCgroup(f.cgroup()); err != nil {
		return nil, err
	}
	h.ns, err = newNamespaces(filepath.Join(h.Folder(), "var-lib"))
	return h, err
}

// Close ends all processes of the host, and removes the host, in any state.
func (h *Host) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var errs []error
	if h.ns != nil {
		errs = append(errs, h.ns.close())
	}
	err := h.folder.end(ctx)
	if err == nil {
		err = h.folder.release()
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("remove host %s: %w", h.folder, err))
	}
	if h.lock != nil {
		errs = append(errs, h.lock.Close())
	}
	h.ns, h.lock = nil, nil
	return errors.Join(errs...)
}

// Folder returns the host's folder. Its path is short: the path of a socket must fit in 107 bytes.
func (h *Host) Folder() string { return string(h.folder) }

// VarLib returns the folder of the files that the host's programs have written to /var/lib.
func (h *Host) VarLib() string { return filepath.Join(h.Folder(), "var-lib", "upper") }

// PodCgroup returns the parent cgroup of the host's pods.
func (h *Host) PodCgroup() string { return "/" + h.group.name + "/pods" }

// Processes lists the ids of all processes in the host's cgroup.
func (h *Host) Processes() ([]int, error) { return h.group.processes() }

// PodCgroups lists the cgroups at and below that of pods, in all hierarchies, children first.
func (h *Host) PodCgroups() ([]string, error) { return h.group.folders("pods") }

// Start starts a program in the host's namespaces and cgroup. The program is in the cgroup before it
// can start others.
func (h *Host) Start(cmd *exec.Cmd) error {
	if err := h.Within(cmd.Start); err != nil {
		return err
	}
	err := h.group.add(cmd.Process.Pid)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	return err
}

// Within runs f, and the programs that f starts, in the host's mount and network namespaces, on a
// thread of its own.
func (h *Host) Within(f func() error) error { return h.ns.do(f) }

// Cover mounts a folder of the host over a folder of the real host, such as /run/containerd, for the
// host's programs. If the real host has no such folder, an empty one is left there.
func (h *Host) Cover(path, name string) error {
	own := filepath.Join(h.Folder(), name)
	return h.Within(func() error {
		for _, folder := range []string{path, own} {
			if err := os.MkdirAll(folder, 0o711); err != nil {
				return err
			}
		}
		if err := unix.Mount(own, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %w", own, path, err)
		}
		return nil
	})
}

// Inside runs f in a namespace of a pod, which is named by a path as NRI gives it.
func (h *Host) Inside(path string, f func() error) error {
	err := h.Within(func() error {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
		if err := unix.Setns(int(file.Fd()), 0); err != nil {
			return fmt.Errorf("enter: %w", err)
		}
		return f()
	})
	if err != nil {
		return fmt.Errorf("in namespace %s: %w", path, err)
	}
	return nil
}

// Listen listens at an address of the host's network, such as ":0".
func (h *Host) Listen(address string) (l net.Listener, err error) {
	err = h.Within(func() (err error) {
		l, err = net.Listen("tcp4", address)
		return err
	})
	return l, err
}
