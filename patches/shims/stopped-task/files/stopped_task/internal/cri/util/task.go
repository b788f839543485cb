// SPDX-License-Identifier: Apache-2.0

package util

import (
	"context"
	"path/filepath"

	runcoptions "github.com/containerd/containerd/api/types/runc/options"
	"github.com/containerd/typeurl/v2"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/plugins"
)

// WithKillUnlessStopped kills a task of container before it is deleted, unless it is a stopped
// task of runc and its shim. When that shim reports the exit of the first process of a container,
// it has ended all other processes.
func WithKillUnlessStopped(container containerd.Container) containerd.ProcessDeleteOpts {
	return func(ctx context.Context, task containerd.Process) error {
		info, err := container.Info(ctx, containerd.WithoutRefreshedMetadata)
		if err != nil || !isRunc(info.Runtime) {
			return containerd.WithProcessKill(ctx, task)
		}
		status, err := task.Status(ctx)
		if err != nil || status.Status != containerd.Stopped {
			return containerd.WithProcessKill(ctx, task)
		}
		return nil
	}
}

// isRunc reports whether a container is run by runc, and not by a program in its place.
func isRunc(runtime containers.RuntimeInfo) bool {
	if runtime.Name != plugins.RuntimeRuncV2 {
		return false
	}
	if runtime.Options == nil {
		return true
	}
	options, err := typeurl.UnmarshalAny(runtime.Options)
	if err != nil {
		return false
	}
	runc, ok := options.(*runcoptions.Options)
	return ok && (runc.GetBinaryName() == "" || filepath.Base(runc.GetBinaryName()) == "runc")
}
