// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"context"
	"path"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/ttrpc"
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/plugin/podnetwork"
)

// Network returns the network that a plugin has given to a pod in its last reply, nil if it has given none.
func (r *Runtime) Network(pod string) *podnetwork.Network {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.networks[pod]
}

// NetworkStatus returns the status that a plugin has reported last, nil if it has reported none.
func (r *Runtime) NetworkStatus() *podnetwork.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.network
}

// hears keeps what a plugin says of networks in its replies, which NRI itself does not read.
func (r *Runtime) hears(ctx context.Context, req *ttrpc.Request, resp *ttrpc.Response, info *ttrpc.UnaryClientInfo, invoke ttrpc.Invoker) error {
	if path.Base(info.FullMethod) == "Synchronize" {
		r.forgetStatus() // it ended with the connection
	}
	if err := invoke(ctx, req, resp); err != nil {
		return err
	}
	switch path.Base(info.FullMethod) {
	case "RunPodSandbox":
		var asked api.RunPodSandboxRequest
		var reply podnetwork.RunPodSandboxResponse
		if proto.Unmarshal(req.Payload, &asked) == nil && proto.Unmarshal(resp.Payload, &reply) == nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.networks[asked.GetPod().GetId()] = reply.GetNetwork()
		}
	case "Synchronize":
		var reply podnetwork.SynchronizeResponse
		if proto.Unmarshal(resp.Payload, &reply) == nil {
			r.takeAnswer(reply.GetNetworkStatus())
		}
	}
	return nil
}

// listens keeps what a plugin says of its network by itself, and answers a request that has nothing else.
func (r *Runtime) listens(ctx context.Context, unmarshal ttrpc.Unmarshaler, info *ttrpc.UnaryServerInfo, method ttrpc.Method) (any, error) {
	if path.Base(info.FullMethod) != "UpdateContainers" {
		return method(ctx, unmarshal)
	}
	var asked api.UpdateContainersRequest
	if err := unmarshal(&asked); err != nil {
		return nil, err
	}
	reported, err := podnetwork.Reported(&asked)
	if err != nil {
		return nil, err
	}
	r.takeStatus(reported)
	if reported != nil && len(asked.GetUpdate())+len(asked.GetEvict()) == 0 {
		return &api.UpdateContainersResponse{}, nil
	}
	return method(ctx, func(request any) error {
		proto.Merge(request.(proto.Message), &asked)
		return nil
	})
}

func (r *Runtime) takeStatus(reported *podnetwork.Status) {
	if reported == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.network = reported
}

// takeAnswer takes the status of an answer to Synchronize, which is older than one that was reported meanwhile.
func (r *Runtime) takeAnswer(reported *podnetwork.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.network == nil {
		r.network = reported
	}
}

func (r *Runtime) forgetStatus() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.network = nil
}
