// SPDX-License-Identifier: Apache-2.0

// Command sandboxshim is containerd's shim for runc with the one service that it lacks: it creates
// pod sandboxes, as the shims of virtual machines do. So tests can run pods whose sandbox a shim
// makes (sandboxer = "shim"). A sandbox is a process that waits to be killed, in the pod's network
// namespace.
package main

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/signal"
	"strconv"
	"time"

	bootapi "github.com/containerd/containerd/api/runtime/bootstrap/v1"
	sandboxapi "github.com/containerd/containerd/api/runtime/sandbox/v1"
	taskapi "github.com/containerd/containerd/api/runtime/task/v3"
	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/manager"
	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/task"
	"github.com/containerd/containerd/v2/pkg/shim"
	"github.com/containerd/containerd/v2/pkg/shutdown"
	"github.com/containerd/containerd/v2/plugins"
	"github.com/containerd/plugin"
	"github.com/containerd/plugin/registry"
	"github.com/containerd/ttrpc"
	"golang.org/x/sys/unix"
)

const (
	pause   = "pause"       // as the only argument: run as the process of a sandbox
	pidFile = "sandbox.pid" // in the bundle of a sandbox that has a process
	sockets = "s"           // the link in a bundle to the folder of sockets, made by package shim
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == pause {
		end := make(chan os.Signal, 1)
		signal.Notify(end, unix.SIGTERM)
		<-end
		return
	}
	registry.Register(&plugin.Registration{
		Type:     plugins.TTRPCPlugin,
		ID:       "sandbox-and-task",
		Requires: []plugin.Type{plugins.EventPlugin, plugins.InternalPlugin},
		InitFn:   newServices,
	})
	shim.RunShim(context.Background(), binary{manager.NewShimManager(plugins.RuntimeRuncV2)})
}

// services are the services of a shim for a pod: its sandbox and its containers.
type services struct {
	*sandbox
	task taskapi.TTRPCTaskService
}

func newServices(ic *plugin.InitContext) (any, error) {
	publisher, err := ic.GetByID(plugins.EventPlugin, "publisher")
	if err != nil {
		return nil, err
	}
	end, err := ic.GetByID(plugins.InternalPlugin, "shutdown")
	if err != nil {
		return nil, err
	}
	s := &sandbox{end: end.(shutdown.Service)}
	t, err := task.NewTaskService(ic.Context, publisher.(shim.Publisher), held{s.end, s})
	return services{s, t}, err
}

// RegisterTTRPC implements shim.TTRPCService.
func (s services) RegisterTTRPC(server *ttrpc.Server) error {
	sandboxapi.RegisterTTRPCSandboxService(server, s.sandbox)
	taskapi.RegisterTTRPCTaskService(server, s.task)
	return nil
}

// held keeps the shim running when its last container is deleted: the sandbox stays.
type held struct {
	shutdown.Service
	sandbox *sandbox
}

func (h held) Shutdown() {
	if h.sandbox.current() == nil {
		h.Service.Shutdown()
	}
}

// binary has the commands with which containerd starts a shim and cleans up after it. Their working
// directory is the bundle.
type binary struct{ shim.Shim }

// Start starts the shim of a sandbox, which has no OCI specification, as if it had an empty one.
func (b binary) Start(ctx context.Context, params *bootapi.BootstrapParams) (*bootapi.BootstrapResult, error) {
	if _, err := os.Stat("config.json"); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile("config.json", []byte("{}"), 0o600); err != nil {
			return nil, err
		}
	}
	return b.Shim.Start(ctx, params)
}

// Stop cleans up after a sandbox or a container whose shim has ended.
func (b binary) Stop(ctx context.Context, id string) (shim.StopStatus, error) {
	content, err := os.ReadFile(pidFile)
	if err != nil {
		return b.Shim.Stop(ctx, id)
	}
	pid, err := strconv.Atoi(string(content))
	if err == nil {
		err = unix.Kill(pid, unix.SIGKILL)
	}
	if errors.Is(err, unix.ESRCH) {
		err = nil
	}
	status := shim.StopStatus{Pid: pid, ExitStatus: 128 + int(unix.SIGKILL), ExitedAt: time.Now()}
	return status, errors.Join(err, removeSockets(ctx, id))
}

// removeSockets removes the sockets of a shim. Open connections stay.
func removeSockets(ctx context.Context, id string) error {
	folder, err := os.Readlink(sockets)
	if err != nil {
		return err
	}
	for _, debug := range []bool{false, true} {
		address, err := shim.CreateSocketAddress(ctx, folder, flag.Lookup("address").Value.String(), id, debug)
		if err == nil {
			err = shim.RemoveSocket(address)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
