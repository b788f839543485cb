// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/containerd/plugin"
	"github.com/containerd/plugin/registry"
	"google.golang.org/grpc"

	"github.com/containerd/containerd/v2/internal/nri/operator"
	"github.com/containerd/containerd/v2/plugins"
)

func init() {
	registry.Register(&plugin.Registration{
		Type:     plugins.GRPCPlugin,
		ID:       "nri",
		Requires: []plugin.Type{plugins.NRIApiPlugin},
		InitFn: func(ic *plugin.InitContext) (any, error) {
			n, err := ic.GetByID(plugins.NRIApiPlugin, "nri")
			if err != nil { // NRI is not loaded, as its own error in the log says
				return nil, fmt.Errorf("%w: %w", plugin.ErrSkipPlugin, err)
			}
			asked, ok := n.(operator.NRI)
			if !ok {
				return nil, fmt.Errorf("%T serves no requests of an operator: %w", n, errdefs.ErrNotImplemented)
			}
			return operatorService{asked}, nil
		},
	})
}

// operatorService serves an operator's requests to NRI on containerd's socket.
type operatorService struct{ operator.NRI }

// Register registers the service with a server.
func (s operatorService) Register(server *grpc.Server) error {
	operator.Serve(server, s.NRI)
	return nil
}
