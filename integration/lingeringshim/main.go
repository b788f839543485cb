// SPDX-License-Identifier: Apache-2.0

// Command lingeringshim is containerd's shim for runc with a slow end, as on a busy node, or as in
// a shim with traces that sends the last of them.
package main

import (
	"context"
	"os"
	"time"

	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/manager"
	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/task"
	"github.com/containerd/containerd/v2/pkg/shim"
	"github.com/containerd/containerd/v2/pkg/shutdown"
	"github.com/containerd/containerd/v2/plugins"
	"github.com/containerd/plugin"
	"github.com/containerd/plugin/registry"
)

// end is the variable with the time that the shim takes to end.
const end = "SHIM_END"

func main() {
	registry.Register(&plugin.Registration{
		Type:     plugins.TTRPCPlugin,
		ID:       "task",
		Requires: []plugin.Type{plugins.EventPlugin, plugins.InternalPlugin},
		InitFn: func(ic *plugin.InitContext) (any, error) {
			publisher, err := ic.GetByID(plugins.EventPlugin, "publisher")
			if err != nil {
				return nil, err
			}
			service, err := ic.GetByID(plugins.InternalPlugin, "shutdown")
			if err != nil {
				return nil, err
			}
			takes, err := time.ParseDuration(os.Getenv(end))
			if err != nil {
				return nil, err
			}
			ending := service.(shutdown.Service)
			ending.RegisterCallback(func(ctx context.Context) error {
				select {
				case <-time.After(takes):
				case <-ctx.Done():
				}
				return nil
			})
			return task.NewTaskService(ic.Context, publisher.(shim.Publisher), ending)
		},
	})
	shim.RunShim(context.Background(), manager.NewShimManager(plugins.RuntimeRuncV2))
}
