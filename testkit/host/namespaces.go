// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// cniCache is the folder of libcni's cache, which cannot be configured.
const cniCache = "/var/lib"

// namespaces are a host's mount and network namespace, alive as long as these
// files are open or a process is in them.
type namespaces struct{ mnt, net *os.File }

// newNamespaces makes the namespaces. cover is a folder for files that are written to /var/lib.
func newNamespaces(cover string) (*namespaces, error) {
	upper, work := filepath.Join(cover, "upper"), filepath.Join(cover, "work")
	for _, folder := range []string{upper, work} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
	}
	ns := &namespaces{}
	err := onThread(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("%w: cannot make mount and network namespaces: %w", ErrPrerequisite, err)
		}
		// Mounts of the real host may propagate in, but none propagates out. As on a real host,
		// pods that request mount propagation find shared mounts.
		for _, propagation := range []uintptr{unix.MS_SLAVE, unix.MS_SHARED} {
			if err := unix.Mount("", "/", "", propagation|unix.MS_REC, ""); err != nil {
				return fmt.Errorf("set mount propagation: %w", err)
			}
		}
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", cniCache, upper, work)
		if err := unix.Mount("overlay", cniCache, "overlay", 0, options); err != nil {
			return fmt.Errorf("%w: overlayfs does not work on the file system of %s: %w", ErrPrerequisite, cover, err)
		}
		loopback, err := netlink.LinkByName("lo")
		if err != nil {
			return fmt.Errorf("find loopback: %w", err)
		}
		if err := netlink.LinkSetUp(loopback); err != nil {
			return fmt.Errorf("set loopback up: %w", err)
		}
		if ns.mnt, err = os.Open("/proc/thread-self/ns/mnt"); err != nil {
			return err
		}
		ns.net, err = os.Open("/proc/thread-self/ns/net")
		return err
	})
	if err != nil {
		return nil, errors.Join(err, ns.close())
	}
	return ns, nil
}

// do runs f, and the programs that f starts, inside the namespaces.
func (ns *namespaces) do(f func() error) error {
	return onThread(func() error {
		// A thread that shares its root and working directory cannot change its mount namespace.
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			return fmt.Errorf("unshare working directory: %w", err)
		}
		if err := unix.Setns(int(ns.mnt.Fd()), unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("enter mount namespace: %w", err)
		}
		if err := unix.Setns(int(ns.net.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace: %w", err)
		}
		return f()
	})
}

func (ns *namespaces) close() error {
	var errs []error
	for _, f := range []*os.File{ns.mnt, ns.net} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// onThread runs f on a thread that is not used again: it stays locked, so that the Go runtime ends
// it together with its goroutine.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		done <- f()
	}()
	return <-done
}
