// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package podcgroup reads the metrics of the cgroup of a pod that has no process: those of all of its containers.
package podcgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/containerd/cgroups/v3"
	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
	stats2 "github.com/containerd/cgroups/v3/cgroup2/stats"
	"github.com/containerd/containerd/api/types"
	"github.com/containerd/typeurl/v2"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// unified is where cgroup v2 is mounted.
const unified = "/sys/fs/cgroup"

// Metrics returns the metrics of a pod, by the path of its cgroup. The data are
// io.containerd.cgroups.v1.Metrics, or io.containerd.cgroups.v2.Metrics with processor and memory. They
// are empty before there is a cgroup: the first container makes it, unless the kubelet did.
func Metrics(pod, path string) (*types.Metric, error) {
	var metrics any = &stats2.Metrics{}
	if path != "" {
		found, err := read(path)
		switch {
		case isMissing(err):
		case err != nil:
			return nil, fmt.Errorf("read the metrics of cgroup %q: %w", path, err)
		default:
			metrics = found
		}
	}
	now := timestamppb.Now()
	data, err := typeurl.MarshalAnyToProto(metrics)
	if err != nil {
		return nil, fmt.Errorf("encode the metrics of cgroup %q: %w", path, err)
	}
	return &types.Metric{ID: pod, Timestamp: now, Data: data}, nil
}

// isMissing reports whether there is no cgroup. ENODEV is the answer for one that is removed while it is read.
func isMissing(err error) bool {
	return errors.Is(err, cgroup1.ErrCgroupDeleted) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV)
}

func read(path string) (any, error) {
	if cgroups.Mode() == cgroups.Unified {
		return read2(path)
	}
	group, err := cgroup1.Load(cgroup1.StaticPath(path))
	if err != nil {
		return nil, err
	}
	return group.Stat(cgroup1.IgnoreNotExist)
}

// read2 reads a cgroup of version 2. The library would return zeros for one that does not exist.
func read2(path string) (any, error) {
	if _, err := os.Stat(filepath.Join(unified, path)); err != nil {
		return nil, err
	}
	group, err := cgroup2.Load(path)
	if err != nil {
		return nil, err
	}
	return group.StatFiltered(cgroup2.StatCPU | cgroup2.StatMemory)
}
