// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/containerd/cgroups/v3"
	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
	stats2 "github.com/containerd/cgroups/v3/cgroup2/stats"
	"github.com/containerd/typeurl/v2"
	"google.golang.org/protobuf/types/known/anypb"
)

// usage returns the metrics of the cgroup of a pod: processor and memory, of all of its containers.
// They are empty before there is one: the first container makes the cgroup, unless the kubelet did.
func usage(path string) (*anypb.Any, error) {
	var metrics any = &stats2.Metrics{}
	if path != "" {
		found, err := read1or2(path)
		switch {
		case errors.Is(err, cgroup1.ErrCgroupDeleted) || errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read the metrics of cgroup %s: %w", path, err)
		default:
			metrics = found
		}
	}
	return typeurl.MarshalAnyToProto(metrics)
}

func read1or2(path string) (any, error) {
	if cgroups.Mode() != cgroups.Unified {
		group, err := cgroup1.Load(cgroup1.StaticPath(path))
		if err != nil {
			return nil, err
		}
		return group.Stat(cgroup1.IgnoreNotExist)
	}
	group, err := cgroup2.Load(path)
	if err != nil {
		return nil, err
	}
	return group.StatFiltered(cgroup2.StatCPU | cgroup2.StatMemory)
}
