// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	api "github.com/containerd/containerd/api/runtime/sandbox/v1"
	"github.com/containerd/containerd/api/types"
	"github.com/containerd/containerd/v2/pkg/shutdown"
	"github.com/containerd/containerd/v2/pkg/sys/reaper"
	runc "github.com/containerd/go-runc"
	"github.com/containerd/typeurl/v2"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// errNotStarted is the error of requests that need a process. errNotCreated is the error of some
// shims, such as Kata's, for a stop without a sandbox.
var (
	errNotStarted = status.Error(codes.NotFound, "the sandbox is not started")
	errNotCreated = status.Error(codes.Unknown, "the sandbox is not created")
)

// sandbox serves the one sandbox of a shim.
type sandbox struct {
	end shutdown.Service // of the shim

	mu      sync.Mutex // guards the fields below
	created bool
	netns   string
	process *process
	asked   map[string]string // its behaviour, by annotations of the pod
	over    chan struct{}     // closed with the shutdown
}

// process is the process of a sandbox.
type process struct {
	pid     int
	started time.Time
	done    chan struct{}            // closed when it has exited
	exit    *api.WaitSandboxResponse // set before done is closed
}

// current returns the process of the sandbox, also if it has ended, and nil before it is started.
func (s *sandbox) current() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

func (s *sandbox) CreateSandbox(_ context.Context, r *api.CreateSandboxRequest) (*api.CreateSandboxResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created, s.netns = true, r.GetNetnsPath()
	config := &runtime.PodSandboxConfig{}
	if err := proto.Unmarshal(r.GetOptions().GetValue(), config); err != nil {
		return nil, err
	}
	s.asked, s.over = config.GetAnnotations(), make(chan struct{})
	// A shim would size a VM by this configuration. Tests read it.
	if err := os.WriteFile("options", r.GetOptions().GetValue(), 0o600); err != nil {
		return nil, err
	}
	return &api.CreateSandboxResponse{}, nil
}

func (s *sandbox) StartSandbox(context.Context, *api.StartSandboxRequest) (*api.StartSandboxResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := start(s.netns)
	if err != nil {
		return nil, fmt.Errorf("start the process of a sandbox: %w", err)
	}
	s.process = p
	if s.asked[failsToStart] != "" {
		return nil, errors.New("the agent in the sandbox does not answer")
	}
	// NRI plugins find the pod's network by this.
	spec, err := typeurl.MarshalAnyToProto(&specs.Spec{Linux: &specs.Linux{
		Namespaces: []specs.LinuxNamespace{{Type: specs.NetworkNamespace, Path: s.netns}},
	}})
	return &api.StartSandboxResponse{Pid: uint32(p.pid), CreatedAt: timestamppb.New(p.started), Spec: spec}, err
}

// start starts a process in a network namespace, by default the shim's own, and writes its PID to
// the bundle.
func start(netns string) (*process, error) {
	cmd := exec.Command("/proc/self/exe", pause)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWIPC | unix.CLONE_NEWUTS}
	p := &process{started: time.Now(), done: make(chan struct{})}
	begun := make(chan error, 1)
	go func() {
		goruntime.LockOSThread() // until its end: no other goroutine may use the thread
		err := enter(netns)
		var exits chan runc.Exit
		if err == nil {
			exits, err = reaper.Default.Start(cmd) // the shim reaps all its children
		}
		begun <- err
		if err == nil {
			exit, _ := reaper.Default.Wait(cmd, exits) // does not fail while the reaper runs
			p.exit = &api.WaitSandboxResponse{ExitStatus: uint32(exit), ExitedAt: timestamppb.Now()}
			close(p.done)
		}
	}()
	if err := <-begun; err != nil {
		return nil, err
	}
	p.pid = cmd.Process.Pid
	return p, os.WriteFile(pidFile, []byte(strconv.Itoa(p.pid)), 0o600)
}

// enter moves the thread to a network namespace.
func enter(netns string) error {
	if netns == "" {
		return nil
	}
	ns, err := os.Open(netns)
	if err != nil {
		return err
	}
	defer func() { _ = ns.Close() }()
	return unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
}

func (s *sandbox) Platform(context.Context, *api.PlatformRequest) (*api.PlatformResponse, error) {
	return &api.PlatformResponse{Platform: &types.Platform{OS: goruntime.GOOS, Architecture: goruntime.GOARCH}}, nil
}

func (s *sandbox) StopSandbox(context.Context, *api.StopSandboxRequest) (*api.StopSandboxResponse, error) {
	s.mu.Lock()
	created := s.created
	s.mu.Unlock()
	if !created {
		return nil, errNotCreated
	}
	p := s.current()
	if p == nil {
		return nil, errNotStarted
	}
	select {
	case <-p.done:
	default:
		_ = unix.Kill(p.pid, unix.SIGKILL) // it exits now, or has just exited
		<-p.done
	}
	return &api.StopSandboxResponse{}, nil
}

func (s *sandbox) WaitSandbox(ctx context.Context, _ *api.WaitSandboxRequest) (*api.WaitSandboxResponse, error) {
	p := s.current()
	if p == nil {
		return nil, errNotStarted
	}
	done := p.done
	if s.waitsFor(shutdownOnly) {
		done = s.over
	}
	select {
	case <-done:
		return p.exit, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *sandbox) SandboxStatus(ctx context.Context, r *api.SandboxStatusRequest) (*api.SandboxStatusResponse, error) {
	p := s.current()
	if p == nil {
		return nil, errNotStarted
	}
	if _, err := os.Stat(hangsStatus); err == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if _, err := os.Stat(noStatus); err == nil {
		return nil, status.Error(codes.Unavailable, "the sandbox does not report its status now")
	}
	now := &api.SandboxStatusResponse{
		SandboxID: r.GetSandboxID(),
		Pid:       uint32(p.pid),
		State:     runtime.PodSandboxState_SANDBOX_READY.String(),
		CreatedAt: timestamppb.New(p.started),
	}
	select {
	case <-p.done:
		now.State, now.ExitedAt = runtime.PodSandboxState_SANDBOX_NOTREADY.String(), p.exit.GetExitedAt()
	default:
	}
	return now, nil
}

func (s *sandbox) PingSandbox(context.Context, *api.PingRequest) (*api.PingResponse, error) {
	return &api.PingResponse{}, nil
}

func (s *sandbox) SandboxMetrics(_ context.Context, r *api.SandboxMetricsRequest) (*api.SandboxMetricsResponse, error) {
	return &api.SandboxMetricsResponse{Metrics: &types.Metric{ID: r.GetSandboxID(), Timestamp: timestamppb.Now()}}, nil
}

func (s *sandbox) UpdateSandbox(context.Context, *api.UpdateSandboxRequest) (*api.UpdateSandboxResponse, error) {
	return &api.UpdateSandboxResponse{}, nil
}

// The annotations of a pod that set the behaviour of its shim.
const (
	failsToStart  = "hookline.test/fails-to-start"
	shutdownTakes = "hookline.test/shutdown-takes"       // a duration
	unavailable   = "hookline.test/unavailable-at-first" // the first shutdown
	shutdownOnly  = "hookline.test/exits-with-shutdown"  // containerd sees its exit only at the shutdown

	hangsStatus = "hang-status" // files in the bundle
	noStatus    = "no-status"
)

func (s *sandbox) waitsFor(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[what] != ""
}

// ask returns the behaviour of a call, and forgets it.
func (s *sandbox) ask(what string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	how := s.asked[what]
	delete(s.asked, what)
	return how
}

// ShutdownSandbox stops the sandbox, and ends the shim as soon as containerd has the answer:
// containerd then removes the bundle. So it removes the sockets and kills the process, which need
// the bundle, before.
func (s *sandbox) ShutdownSandbox(ctx context.Context, r *api.ShutdownSandboxRequest) (*api.ShutdownSandboxResponse, error) {
	if s.ask(unavailable) != "" {
		return nil, status.Error(codes.Unavailable, "the VM of the sandbox does not answer")
	}
	if takes, err := time.ParseDuration(s.ask(shutdownTakes)); err == nil {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if _, err := s.StopSandbox(ctx, nil); err == nil {
		if err := os.Remove(pidFile); err != nil {
			return nil, err
		}
	}
	if s.over != nil {
		close(s.over)
	}
	bundle, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := removeSockets(ctx, r.GetSandboxID()); err != nil {
		return nil, err
	}
	go func() {
		defer s.end.Shutdown()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = wait.Until(ctx, "the removal of "+bundle, func(context.Context) error {
			if _, err := os.Stat(bundle); err == nil {
				return errors.New("it exists")
			}
			return nil
		})
	}()
	return &api.ShutdownSandboxResponse{}, nil
}
