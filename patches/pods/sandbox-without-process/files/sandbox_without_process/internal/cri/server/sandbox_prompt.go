// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/containerd/platforms"
	imagespec "github.com/opencontainers/image-spec/specs-go/v1"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	core "github.com/containerd/containerd/v2/core/sandbox"
	podsandboxtypes "github.com/containerd/containerd/v2/internal/cri/server/podsandbox/types"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/pkg/timeout"
)

// promptSandboxService keeps the kubelet's requests from waiting for the shim of a sandbox without a
// process, as they do not wait for that of a pause container. It answers what CRI knows itself.
// Such a shim has little to do in a stop, which therefore has the time of a task's state.
type promptSandboxService struct {
	sandboxService
	store *sandboxstore.Store // a sandbox that is being created is not in it
}

// taskState is the name of the timeout for the state of a task.
const taskState = "io.containerd.timeout.task.state"

func (s promptSandboxService) known(id string) (sandboxstore.Sandbox, bool) {
	sandbox, err := s.store.Get(id)
	return sandbox, err == nil && sandbox.WithoutProcess
}

func (s promptSandboxService) SandboxStatus(ctx context.Context, sandboxer, id string, verbose bool) (core.ControllerStatus, error) {
	sandbox, ok := s.known(id)
	if !ok {
		return s.sandboxService.SandboxStatus(ctx, sandboxer, id, verbose)
	}
	status, state := sandbox.Status.Get(), runtime.PodSandboxState_SANDBOX_NOTREADY
	if status.State == sandboxstore.StateReady {
		state = runtime.PodSandboxState_SANDBOX_READY
	}
	answer := core.ControllerStatus{SandboxID: id, State: state.String(), CreatedAt: status.CreatedAt}
	if !verbose {
		return answer, nil
	}
	info, err := json.Marshal(&podsandboxtypes.SandboxInfo{
		Config:      sandbox.Config,
		CNIResult:   sandbox.CNIResult,
		Metadata:    &sandbox.Metadata,
		RuntimeSpec: sandbox.Shared,
	})
	if err != nil {
		return answer, fmt.Errorf("encode the details of sandbox %q: %w", id, err)
	}
	answer.Info = map[string]string{"info": string(info)}
	return answer, nil
}

func (s promptSandboxService) SandboxPlatform(ctx context.Context, sandboxer, id string) (imagespec.Platform, error) {
	if _, ok := s.known(id); !ok {
		return s.sandboxService.SandboxPlatform(ctx, sandboxer, id)
	}
	return platforms.DefaultSpec(), nil
}

// UpdateSandbox has nothing to do: all resources of the pod are those of its containers.
func (s promptSandboxService) UpdateSandbox(ctx context.Context, sandboxer, id string, update core.Sandbox, fields ...string) error {
	if _, ok := s.known(id); !ok {
		return s.sandboxService.UpdateSandbox(ctx, sandboxer, id, update, fields...)
	}
	return nil
}

func (s promptSandboxService) StopSandbox(ctx context.Context, sandboxer, id string, opts ...core.StopOpt) error {
	if _, ok := s.known(id); ok {
		var cancel context.CancelFunc
		ctx, cancel = timeout.WithContext(ctx, taskState)
		defer cancel()
	}
	return s.sandboxService.StopSandbox(ctx, sandboxer, id, opts...)
}
