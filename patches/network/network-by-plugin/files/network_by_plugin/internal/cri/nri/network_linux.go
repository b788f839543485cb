// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// NetworkPlugin returns the plugin that gives pods their network, empty if CNI does.
func (a *API) NetworkPlugin() string {
	if a.IsDisabled() {
		return ""
	}
	return a.nri.NetworkPlugin()
}

// GetNetworkPlugin returns the plugin that gives the pod its network, empty if none does.
func (p *criPodSandbox) GetNetworkPlugin() string {
	if p.Sandbox == nil || p.GivenNetwork == nil {
		return ""
	}
	return p.GivenNetwork.Plugin
}

// TakeNetwork records the network that the plugin has given, and returns the pod's addresses.
func (p *criPodSandbox) TakeNetwork(ctx context.Context, network *nri.PodNetwork) ([]string, error) {
	return p.cri.TakeNetwork(ctx, p.Sandbox, network)
}
