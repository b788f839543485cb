// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command containerd-shim-sandboxed-runc-v2 is containerd's shim for runc that also serves the
// Sandbox API: a pod has no pause container. It is used by a runtime handler with
// sandboxer = "shim" and this binary as runtime_path.
package main

import (
	"context"

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

	"github.com/hookline-nri/hookline/internal/shim/sandbox"
)

func main() {
	registry.Register(&plugin.Registration{
		Type:     plugins.TTRPCPlugin,
		ID:       "sandbox",
		Requires: []plugin.Type{plugins.EventPlugin, plugins.InternalPlugin},
		InitFn:   newServices,
	})
	shim.RunShim(context.Background(), commands{manager.NewShimManager(plugins.RuntimeRuncV2)})
}

// services are those of a pod: its sandbox and its containers.
type services struct {
	sandbox *sandbox.Service
	task    taskapi.TTRPCTaskService
}

func newServices(ic *plugin.InitContext) (any, error) {
	publisher, err := ic.GetByID(plugins.EventPlugin, "publisher")
	if err != nil {
		return nil, err
	}
	found, err := ic.GetByID(plugins.InternalPlugin, "shutdown")
	if err != nil {
		return nil, err
	}
	end := found.(shutdown.Service)
	s := sandbox.New(end.Shutdown)
	t, err := task.NewTaskService(ic.Context, publisher.(shim.Publisher), lasting{end, s})
	return services{s, t}, err
}

// RegisterTTRPC implements shim.TTRPCService.
func (s services) RegisterTTRPC(server *ttrpc.Server) error {
	sandboxapi.RegisterTTRPCSandboxService(server, s.sandbox)
	taskapi.RegisterTTRPCTaskService(server, s.task)
	return nil
}

// lasting keeps the shim running when its last container is deleted, until the sandbox is shut down.
type lasting struct {
	shutdown.Service
	sandbox *sandbox.Service
}

func (l lasting) Shutdown() {
	if !l.sandbox.HasSandbox() {
		l.Service.Shutdown()
	}
}
