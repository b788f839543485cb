// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"github.com/containerd/containerd/api/types"

	core "github.com/containerd/containerd/v2/core/sandbox"
	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	"github.com/containerd/containerd/v2/internal/cri/podcgroup"
)

// SandboxController returns a controller that asks no shim for the metrics of a sandbox without a process.
// CRI collects those of all sandboxes, one after the other, and waits for as long as a shim takes.
func (s promptSandboxService) SandboxController(sandboxer string) (core.Controller, error) {
	controller, err := s.sandboxService.SandboxController(sandboxer)
	if err != nil || sandboxer == string(criconfig.ModePodSandbox) { // it has pause containers only
		return controller, err
	}
	return promptMetrics{controller, s}, nil
}

// promptMetrics reads the cgroup of a sandbox without a process. The controller has the metrics of others.
type promptMetrics struct {
	core.Controller
	service promptSandboxService
}

func (p promptMetrics) Metrics(ctx context.Context, id string) (*types.Metric, error) {
	sandbox, ok := p.service.known(id)
	if !ok {
		return p.Controller.Metrics(ctx, id)
	}
	return podcgroup.Metrics(id, sandbox.Config.GetLinux().GetCgroupParent())
}
