// SPDX-License-Identifier: Apache-2.0

package util

import (
	"context"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/plugins"
)

// WithKillUnlessStopped kills a task of container before it is deleted, unless it has
// stopped and its shim is that for runc: that one has ended all processes of a container
// when it says that the first of them has exited.
func WithKillUnlessStopped(container containerd.Container) containerd.ProcessDeleteOpts {
	return func(ctx context.Context, task containerd.Process) error {
		info, err := container.Info(ctx, containerd.WithoutRefreshedMetadata)
		if err != nil || info.Runtime.Name != plugins.RuntimeRuncV2 {
			return containerd.WithProcessKill(ctx, task)
		}
		status, err := task.Status(ctx)
		if err != nil || status.Status != containerd.Stopped {
			return containerd.WithProcessKill(ctx, task)
		}
		return nil
	}
}
