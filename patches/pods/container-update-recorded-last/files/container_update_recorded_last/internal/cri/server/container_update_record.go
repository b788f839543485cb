// SPDX-License-Identifier: Apache-2.0

//go:build windows || linux

package server

import (
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"

	containerd "github.com/containerd/containerd/v2/client"
	containerstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	"github.com/containerd/containerd/v2/internal/cri/util"
	"github.com/containerd/log"
)

// recordContainerUpdate records that a container has the resources of now, and returns its status with
// them. If they cannot be recorded, it gives the container those of before; a limit that it did not
// have then stays. The caller of the update may have left.
func recordContainerUpdate(ctr containerstore.Container, status containerstore.Status, before, now *runtimespec.Spec) (containerstore.Status, error) {
	ctx, cancel := util.DeferContext()
	defer cancel()
	err := updateContainerSpec(ctx, ctr.Container, now)
	if err == nil {
		return copyResourcesToStatus(now, status), nil
	}
	task, gone := ctr.Container.Task(ctx, nil)
	if gone != nil || before.Linux == nil && before.Windows == nil {
		return status, err
	}
	if undone := task.Update(ctx, containerd.WithResources(getResources(before))); undone != nil {
		log.G(ctx).WithError(undone).Errorf("container %q keeps the resources of an update that is not recorded", ctr.ID)
	}
	return status, err
}
