// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/containerd/nri/internal/lifecycle"
	"github.com/containerd/nri/internal/podnetwork"
)

// A PodNetwork is the network that a plugin gives to a pod, and a PodNetworkStatus whether its
// network takes pods.
type (
	PodNetwork       = podnetwork.Network
	PodNetworkStatus = podnetwork.Status
)

// SetNetworkPlugin names the plugin that gives a pod its network, in each message of the pod: by its
// name in WithPluginSettings. The pod requires the plugin.
func SetNetworkPlugin(pod *PodSandbox, plugin string) {
	_ = podnetwork.SetPlugin(pod, plugin) // only a name that no plugin can have fails
}

// ConnectPodSandbox is RunPodSandbox for a pod whose network a plugin gives. That plugin is asked first.
// connect is called with a network that has addresses, before other plugins are asked, and returns
// the addresses of the pod, which those receive. Its error fails the request.
func (r *Adaptation) ConnectPodSandbox(ctx context.Context, req *RunPodSandboxRequest, connect func(*PodNetwork) (ips []string, err error)) error {
	ev := podEvent(lifecycle.RunPodSandbox, req.GetPod(), req)
	name := podnetwork.Plugin(req.GetPod())
	if name == "" {
		return r.ask(ctx, ev, nil)
	}
	connected := false
	return r.ask(ctx, ev, func(conn lifecycle.Connection, reply any) error {
		if connected || !conn.(connection).isNamed(name) || !conn.Subscribed(lifecycle.RunPodSandbox) {
			return nil
		}
		network, err := networkIn(reply)
		if err != nil {
			return &lifecycle.Error{Conn: conn, Event: ev, Failure: lifecycle.Rejection, Err: fmt.Errorf("the network in its reply: %w", err)}
		}
		if req.Pod.Ips, err = connect(network); err != nil {
			return fmt.Errorf("network that plugin %s gave: %w", conn.Name(), err)
		}
		connected = true
		return nil
	})
}

// networkIn returns the network in a reply to RunPodSandbox, if a pod can have it.
func networkIn(reply any) (*PodNetwork, error) {
	var network *PodNetwork
	if message, is := reply.(*RunPodSandboxResponse); is {
		var err error
		if network, err = podnetwork.Given(message); err != nil {
			return nil, err
		}
	}
	return network, network.Check()
}

// demands returns the plugins that a pod or container requires. The one that gives a pod its network is
// asked first, and no annotation of the pod tolerates that it is missing.
func (r *Adaptation) demands(ctx context.Context, ev lifecycle.Event) ([]lifecycle.Requirement, error) {
	required, err := r.required(ctx, ev)
	if err != nil || ev.Kind != lifecycle.RunPodSandbox {
		return required, err
	}
	pod, _ := subject(ev)
	name := podnetwork.Plugin(pod)
	if name == "" {
		return required, nil
	}
	others := slices.DeleteFunc(required, func(r lifecycle.Requirement) bool { return r.Plugin == name })
	return append(others, lifecycle.Requirement{Plugin: name, Wait: r.settingsOf(name).wait(), First: true}), nil
}

// isNamed reports whether the plugin has a name, with its index or without.
func (p *plugin) isNamed(name string) bool { return name == p.name() || name == p.base }

// longestReason is how many bytes of a plugin's reason are kept. It is in the status of the node.
const longestReason = 256

// takeStatus takes the status of the plugin's network, and returns whether a message has one. The answer to
// Synchronize is older than what the plugin has reported by itself on this connection.
func (p *plugin) takeStatus(message proto.Message) (bool, error) {
	reported, err := podnetwork.Reported(message)
	if err != nil {
		return false, status.Error(codes.InvalidArgument, err.Error())
	}
	if reported == nil {
		return false, nil
	}
	reported.Message = oneLine(reported.Message)
	if _, answer := message.(*SynchronizeResponse); answer {
		p.network.CompareAndSwap(nil, reported)
	} else {
		p.network.Store(reported)
	}
	return true, nil
}

// oneLine bounds the text of a plugin, and keeps it from looking like another line of a log.
func oneLine(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), longestReason)], "")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// rejectsPods returns the status of the plugin of a network that takes no pods, and nil for others.
func (r *Adaptation) rejectsPods(name string) *PodNetworkStatus {
	if !r.pluginSettings[name].Network {
		return nil
	}
	for _, p := range r.connected() {
		if reported := p.network.Load(); p.isNamed(name) && reported.GetCode() != 0 {
			return reported
		}
	}
	return nil
}
