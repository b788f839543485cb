// SPDX-License-Identifier: Apache-2.0

package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// cgroup is the cgroup of a host, by its name below the root of every hierarchy: one hierarchy with
// cgroup v2, one for each controller with v1.
type cgroup struct {
	name  string
	roots []string
}

func newCgroup(name string) (cgroup, error) {
	roots, err := hierarchies()
	return cgroup{name: name, roots: roots}, err
}

// hierarchies lists where cgroups are mounted.
func hierarchies() ([]string, error) {
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	if err != nil {
		return nil, fmt.Errorf("list cgroup mounts: %w", err)
	}
	var roots []string
	for _, m := range mounts {
		roots = append(roots, m.Mountpoint)
	}
	if len(roots) == 0 {
		return nil, fmt.Errorf("%w: no cgroup file system is mounted: mount cgroup2 on /sys/fs/cgroup", ErrPrerequisite)
	}
	return roots, nil
}

// add puts a process into a leaf of its own, beside the pods. One hierarchy is enough to find the
// process and its children again. On v1 some hierarchies must be set up first (cpuset), so the first
// one that accepts the process is used.
func (c cgroup) add(pid int) error {
	var errs []error
	for _, root := range c.roots {
		leaf := filepath.Join(root, c.name, "runtime")
		err := os.MkdirAll(leaf, 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(leaf, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
		}
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("put process %d into cgroup %s: %w", pid, c.name, errors.Join(errs...))
}

// folders lists the cgroups at and below a path, in all hierarchies, children first.
func (c cgroup) folders(below ...string) ([]string, error) {
	var found []string
	for _, root := range c.roots {
		top := filepath.Join(append([]string{root, c.name}, below...)...)
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // it may be removed meanwhile
			}
			if err == nil && entry.IsDir() {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("list cgroups below %s: %w", top, err)
		}
	}
	slices.Reverse(found)
	return found, nil
}

// processes lists the ids of all processes inside.
func (c cgroup) processes() ([]int, error) {
	folders, err := c.folders()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, folder := range folders {
		content, err := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, field := range strings.Fields(string(content)) {
			// Processes that this pid namespace does not see read as 0.
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids), nil
}

// remove kills all processes in the cgroup, until none is left, and removes it.
func (c cgroup) remove(ctx context.Context) error {
	err := wait.Until(ctx, "the end of all processes of "+c.name, func(context.Context) error {
		pids, err := c.processes()
		if err != nil {
			return err
		}
		for _, pid := range pids {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("kill process %d: %w", pid, err)
			}
		}
		if len(pids) > 0 {
			return fmt.Errorf("%d processes are left, such as %s", len(pids), Command(pids[0]))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return wait.Until(ctx, "the removal of cgroup "+c.name, func(context.Context) error {
		folders, err := c.folders()
		if err != nil {
			return err
		}
		for _, folder := range folders {
			if err := unix.Rmdir(folder); err != nil && !errors.Is(err, unix.ENOENT) {
				return fmt.Errorf("remove %s: %w", folder, err)
			}
		}
		return nil
	})
}

// Command describes a process by its id and command line.
func Command(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		return fmt.Sprintf("%d (exiting)", pid)
	}
	return fmt.Sprintf("%d %s", pid, bytes.TrimSpace(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
}
