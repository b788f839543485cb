// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/ttrpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/plugin/podnetwork"
)

// A NetworkOf is a value of Pods that has the network of its pod, nil for a pod that the plugin gives none.
// RunPodSandbox gives this network to the runtime, again when the event comes again. A network that is
// made in Synchronize reaches no runtime: a pod that runs has the addresses in its Ips.
type NetworkOf interface {
	PodNetwork() *podnetwork.Network
}

// given is the network that a handler gives in its reply.
type given struct {
	mu      sync.Mutex // guards what follows
	network *podnetwork.Network
	over    bool // the reply is on its way
}

type givenKey struct{}

// end returns the network. Nothing can be given after it.
func (g *given) end() *podnetwork.Network {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	return g.network
}

// GiveNetwork has the reply to RunPodSandbox carry the network that the plugin has made for the pod. ctx is
// that of the handler, which has not returned yet. The runtime takes the network if its operator has named
// the plugin for that, see podnetwork.GivenBy.
func GiveNetwork(ctx context.Context, network *podnetwork.Network) error {
	g, ok := ctx.Value(givenKey{}).(*given)
	if !ok {
		return errors.New("give a network: not in RunPodSandbox of a Plugin that runs")
	}
	if err := network.Check(); err != nil {
		return fmt.Errorf("give a network: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return errors.New("give a network: RunPodSandbox has returned")
	}
	g.network = proto.Clone(network).(*podnetwork.Network)
	return nil
}

// giveHeld gives the network of a value of Pods, if it has one and the handler runs in a Plugin. The
// method may be one of T or of a pointer to it.
func giveHeld[T any](ctx context.Context, held *T) error {
	of, is := any(*held).(NetworkOf)
	if !is {
		of, is = any(held).(NetworkOf)
	}
	if !is || ctx.Value(givenKey{}) == nil {
		return nil
	}
	network := of.PodNetwork()
	if network == nil {
		return nil
	}
	return GiveNetwork(ctx, network)
}

// reportTimeout is how long the runtime may take to take a report, which it does at once.
const reportTimeout = 10 * time.Second

// ReportNetwork says whether the plugin's network takes pods, nil if it does. If the operator has named the
// plugin for the network of pods, the node is not ready while it does not. The runtime receives it now
// if the plugin is registered, and with each registration until the next call. After an error it has to be
// reported again. A handler must not call this: some runtimes serve a plugin nothing while it answers.
func (p *Plugin) ReportNetwork(reported *podnetwork.Status) error {
	if reported == nil {
		reported = &podnetwork.Status{}
	}
	if _, err := proto.Marshal(reported); err != nil {
		return fmt.Errorf("report the network: %w", err)
	}
	p.network.Store(proto.Clone(reported).(*podnetwork.Status))
	for {
		sent := p.network.Load()
		if _, err := p.UpdateContainers(nil); err != nil && !unregistered(err) {
			return fmt.Errorf("report the network: %w", err)
		}
		if p.network.Load() == sent {
			return nil
		} // another call may have been overtaken by this one
	}
}

// unregistered reports whether an error means that the plugin has yet to register: its next answer to
// Synchronize has the status then.
func unregistered(err error) bool {
	return errors.Is(err, ErrNotConnected) || errors.Is(err, ttrpc.ErrClosed) || errors.Is(err, net.ErrClosed) || status.Code(err) == codes.FailedPrecondition
}

// update sends a request for updates, with the status of the plugin's network. A request without updates is a
// report.
func (c *connection) update(ctx context.Context, req *ttrpc.Request, resp *ttrpc.Response, invoke ttrpc.Invoker) error {
	if len(req.Payload) == 0 {
		limited, cancel := context.WithTimeout(ctx, reportTimeout)
		defer cancel()
		ctx = limited
	}
	if reported := c.plugin.network.Load(); reported != nil {
		var err error
		if req.Payload, err = podnetwork.AppendStatus(req.Payload, reported); err != nil {
			return err
		}
	}
	return invoke(ctx, req, resp)
}

// complete adds to the reply of a handler what NRI's stub has no way to say.
func (c *connection) complete(reply any, g *given) error {
	switch r := reply.(type) {
	case *api.RunPodSandboxResponse:
		if network := g.end(); network != nil {
			return podnetwork.Give(r, network)
		}
	case *api.SynchronizeResponse:
		if reported := c.plugin.network.Load(); reported != nil && !r.GetMore() {
			return podnetwork.Report(r, reported)
		}
	}
	return nil
}
