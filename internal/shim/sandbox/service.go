// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	api "github.com/containerd/containerd/api/runtime/sandbox/v1"
	"github.com/containerd/containerd/api/types"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hookline-nri/hookline/internal/cri/podcgroup"
)

// The states of a sandbox are those of CRI.
const (
	ready    = "SANDBOX_READY"
	notReady = "SANDBOX_NOTREADY"
)

// Service serves the one sandbox of a shim.
type Service struct {
	shutdown func() // of the shim
	over     chan struct{}

	// step lets one request at a time make, start or remove the sandbox. It is held while they mount
	// and unmount, because a removal has to wait for a creation. Nothing else waits for it.
	step sync.Mutex

	mu      sync.Mutex // guards the fields below
	pod     *pod       // nil before CreateSandbox
	started time.Time  // zero before StartSandbox
	ended   time.Time  // zero until the sandbox has ended
}

// New returns the service of a shim. shutdown ends the shim, and may return before it has.
func New(shutdown func()) *Service { return &Service{shutdown: shutdown, over: make(chan struct{})} }

// HasSandbox reports whether there is a sandbox: the shim then ends with the sandbox, and not with
// its last container.
func (s *Service) HasSandbox() bool {
	pod, _, _ := s.now()
	return pod != nil
}

// now returns the sandbox, and when it was started and has ended.
func (s *Service) now() (pod *pod, started, ended time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pod, s.started, s.ended
}

func (s *Service) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// CreateSandbox makes all of a sandbox that does not depend on its network.
func (s *Service) CreateSandbox(_ context.Context, r *api.CreateSandboxRequest) (*api.CreateSandboxResponse, error) {
	config, err := readConfig(r.GetOptions().GetValue())
	if err != nil {
		return nil, invalid(fmt.Errorf("read the configuration of the pod: %w", err))
	}
	p, err := newPod(r.GetBundlePath(), r.GetNetnsPath(), config)
	if err != nil {
		return nil, invalid(err)
	}
	s.step.Lock()
	defer s.step.Unlock()
	switch pod, _, ended := s.now(); {
	case pod != nil:
		return nil, errgrpc.ToGRPC(fmt.Errorf("the shim has a sandbox: %w", errdefs.ErrAlreadyExists))
	case !ended.IsZero(): // nothing would remove the mounts
		return nil, errgrpc.ToGRPC(fmt.Errorf("the shim is shutting down: %w", errdefs.ErrFailedPrecondition))
	}
	s.set(func() { s.pod = p }) // ShutdownSandbox removes what a failure leaves
	if err := p.create(); err != nil {
		return nil, fmt.Errorf("create the sandbox: %w", err)
	}
	return &api.CreateSandboxResponse{}, nil
}

// StartSandbox sets the sysctls of the network, which has its interfaces by now.
func (s *Service) StartSandbox(_ context.Context, r *api.StartSandboxRequest) (*api.StartSandboxResponse, error) {
	s.step.Lock()
	defer s.step.Unlock()
	pod, started, ended := s.now()
	switch {
	case pod == nil:
		return nil, missing(r.GetSandboxID())
	case !started.IsZero() || !ended.IsZero():
		return nil, errgrpc.ToGRPC(fmt.Errorf("the sandbox was started or stopped before: %w", errdefs.ErrFailedPrecondition))
	}
	if err := pod.start(); err != nil {
		return nil, fmt.Errorf("start the sandbox: %w", err)
	}
	spec, err := pod.spec()
	if err != nil {
		return nil, err
	}
	started = time.Now()
	s.set(func() { s.started = started })
	return &api.StartSandboxResponse{CreatedAt: timestamppb.New(started), Spec: spec}, nil
}

// StopSandbox unmounts the namespaces and files of a sandbox. It can be repeated.
func (s *Service) StopSandbox(context.Context, *api.StopSandboxRequest) (*api.StopSandboxResponse, error) {
	s.step.Lock()
	defer s.step.Unlock()
	pod, _, ended := s.now()
	if pod != nil {
		if err := pod.stop(); err != nil {
			return nil, fmt.Errorf("stop the sandbox: %w", err)
		}
	}
	if ended.IsZero() {
		s.set(func() { s.ended = time.Now() })
		close(s.over)
	}
	return &api.StopSandboxResponse{}, nil
}

// WaitSandbox waits for the end of a sandbox.
func (s *Service) WaitSandbox(ctx context.Context, r *api.WaitSandboxRequest) (*api.WaitSandboxResponse, error) {
	if !s.HasSandbox() {
		return nil, missing(r.GetSandboxID())
	}
	select {
	case <-s.over:
	case <-ctx.Done():
		return nil, errgrpc.ToGRPC(ctx.Err())
	}
	_, _, ended := s.now()
	return &api.WaitSandboxResponse{ExitedAt: timestamppb.New(ended)}, nil
}

// SandboxStatus returns the state of a sandbox.
func (s *Service) SandboxStatus(_ context.Context, r *api.SandboxStatusRequest) (*api.SandboxStatusResponse, error) {
	_, started, ended := s.now()
	if started.IsZero() {
		return nil, missing(r.GetSandboxID())
	}
	status := &api.SandboxStatusResponse{SandboxID: r.GetSandboxID(), State: ready, CreatedAt: timestamppb.New(started)}
	if !ended.IsZero() {
		status.State, status.ExitedAt = notReady, timestamppb.New(ended)
	}
	return status, nil
}

// ShutdownSandbox stops a sandbox, and ends the shim.
func (s *Service) ShutdownSandbox(ctx context.Context, _ *api.ShutdownSandboxRequest) (*api.ShutdownSandboxResponse, error) {
	if _, err := s.StopSandbox(ctx, nil); err != nil {
		return nil, err
	}
	s.shutdown()
	return &api.ShutdownSandboxResponse{}, nil
}

// Platform returns the platform of the node.
func (s *Service) Platform(context.Context, *api.PlatformRequest) (*api.PlatformResponse, error) {
	return &api.PlatformResponse{Platform: &types.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}}, nil
}

// PingSandbox answers.
func (s *Service) PingSandbox(context.Context, *api.PingRequest) (*api.PingResponse, error) {
	return &api.PingResponse{}, nil
}

// UpdateSandbox changes nothing: a sandbox without a process has no resources of its own.
func (s *Service) UpdateSandbox(context.Context, *api.UpdateSandboxRequest) (*api.UpdateSandboxResponse, error) {
	return &api.UpdateSandboxResponse{}, nil
}

// SandboxMetrics returns the usage of the pod's cgroup.
func (s *Service) SandboxMetrics(_ context.Context, r *api.SandboxMetricsRequest) (*api.SandboxMetricsResponse, error) {
	pod, _, _ := s.now()
	if pod == nil {
		return nil, missing(r.GetSandboxID())
	}
	metric, err := podcgroup.Metrics(r.GetSandboxID(), pod.config.cgroup)
	if err != nil {
		return nil, err
	}
	return &api.SandboxMetricsResponse{Metrics: metric}, nil
}

func invalid(err error) error {
	return errgrpc.ToGRPCf(errdefs.ErrInvalidArgument, "%v", err)
}

func missing(id string) error {
	return errgrpc.ToGRPC(fmt.Errorf("sandbox %q: %w", id, errdefs.ErrNotFound))
}
