// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"path"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"github.com/containerd/ttrpc"

	"github.com/hookline-nri/hookline/plugin/podnetwork"
)

// Network sets the status of the plugin's network, which it reports now if it is connected, and with each
// registration.
func (p *Plugin) Network(reported *podnetwork.Status) error {
	p.mu.Lock()
	p.network = reported
	s := p.stub
	p.mu.Unlock()
	if s == nil {
		return nil
	}
	_, err := s.UpdateContainers(nil)
	return err
}

func (p *Plugin) networkStatus() *podnetwork.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.network
}

type callKey struct{}

// networkFields returns the option of NRI's stub with which messages carry fields that the stub does not
// know: the network of a reply, and the status of the plugin's network.
func (p *Plugin) networkFields() stub.Option {
	return stub.WithTTRPCOptions(
		[]ttrpc.ClientOpts{ttrpc.WithChainUnaryClientInterceptor(func(ctx context.Context, req *ttrpc.Request, resp *ttrpc.Response, info *ttrpc.UnaryClientInfo, invoke ttrpc.Invoker) error {
			if reported := p.networkStatus(); reported != nil && path.Base(info.FullMethod) == "UpdateContainers" {
				var err error
				if req.Payload, err = podnetwork.AppendStatus(req.Payload, reported); err != nil {
					return err
				}
			}
			return invoke(ctx, req, resp)
		})},
		[]ttrpc.ServerOpt{ttrpc.WithChainUnaryServerInterceptor(func(ctx context.Context, unmarshal ttrpc.Unmarshaler, _ *ttrpc.UnaryServerInfo, method ttrpc.Method) (any, error) {
			var call *Call
			reply, err := method(context.WithValue(ctx, callKey{}, &call), unmarshal)
			if err != nil {
				return reply, err
			}
			switch r := reply.(type) {
			case *api.RunPodSandboxResponse:
				if call != nil && call.Network != nil {
					err = podnetwork.Give(r, call.Network)
				}
			case *api.SynchronizeResponse:
				if reported := p.networkStatus(); reported != nil {
					err = podnetwork.Report(r, reported)
				}
			}
			return reply, err
		})},
	)
}

// replies has the reply to the request of ctx carry what a Reply has set in the call.
func replies(ctx context.Context, call *Call) {
	if of, ok := ctx.Value(callKey{}).(**Call); ok {
		*of = call
	}
}
