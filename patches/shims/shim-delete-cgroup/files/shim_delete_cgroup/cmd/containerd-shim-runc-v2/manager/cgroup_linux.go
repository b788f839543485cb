// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// cgroupTime is how long killed processes have to leave a cgroup.
const cgroupTime = time.Second

// removeCgroup removes the cgroup of a container that runc does not know, from each hierarchy
// in which it exists and is empty. bundle is the folder of the container's spec.
func removeCgroup(ctx context.Context, bundle string) error {
	path, err := cgroupPath(bundle)
	if err != nil || path == "" {
		return err
	}
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cgroupTime)
	defer cancel()
	var errs []error
	for _, m := range mounts {
		errs = append(errs, removeEmptied(ctx, filepath.Join(m.Mountpoint, path)))
	}
	return errors.Join(errs...)
}

// cgroupPath returns the path of the cgroup. It is empty if the spec has none, or has one for
// systemd: slice:prefix:name.
func cgroupPath(bundle string) (string, error) {
	text, err := os.ReadFile(filepath.Join(bundle, "config.json"))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var spec struct {
		Linux struct {
			CgroupsPath string `json:"cgroupsPath"`
		} `json:"linux"`
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		return "", fmt.Errorf("read the spec in %s: %w", bundle, err)
	}
	path := filepath.Clean(spec.Linux.CgroupsPath)
	if !filepath.IsAbs(path) || path == "/" {
		return "", nil
	}
	return path, nil
}

// removeEmptied removes a cgroup as soon as it has no process, until ctx ends.
func removeEmptied(ctx context.Context, cgroup string) error {
	for pause := 5 * time.Millisecond; ; pause *= 2 {
		err := unix.Rmdir(cgroup)
		switch {
		case err == nil || err == unix.ENOENT:
			return nil
		case err != unix.EBUSY:
			return fmt.Errorf("remove %s: %w", cgroup, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove %s: %w", cgroup, err)
		case <-time.After(pause):
		}
	}
}
