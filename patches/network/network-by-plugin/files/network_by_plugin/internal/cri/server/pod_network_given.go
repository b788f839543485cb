// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"net"

	"github.com/containerd/errdefs"
	"github.com/containerd/go-cni"
	"github.com/containerd/log"
	"github.com/containernetworking/cni/pkg/types"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/nri"
	"github.com/containerd/go-cni/netstatus"
	"github.com/containerd/nri/pkg/adaptation"
)

// givenNetwork returns the network of a new pod if an NRI plugin is to give it, and nil if the pod is on
// the host's network or CNI's. A runtime handler with a CNI configuration of its own keeps CNI.
func (c *criService) givenNetwork(config *runtime.PodSandboxConfig, handler string) *sandboxstore.GivenNetwork {
	plugin := c.nri.NetworkPlugin()
	_, own := c.netPlugin[handler]
	if plugin == "" || hostNetwork(config) || own && handler != defaultNetworkPlugin {
		return nil
	}
	return &sandboxstore.GivenNetwork{Plugin: plugin}
}

// TakeNetwork records the network that the plugin of a sandbox has given, and returns the addresses of the
// sandbox. The record comes before any other plugin knows them.
func (i *criImplementation) TakeNetwork(ctx context.Context, sandbox *sandboxstore.Sandbox, network *adaptation.PodNetwork) ([]string, error) {
	c := i.c
	result, err := resultOf(network, sandbox.NetNSPath)
	if err != nil {
		return nil, err
	}
	first := network.GetInterfaces()[0].GetName()
	sandbox.IP, sandbox.AdditionalIPs = selectPodIPs(ctx, result.Interfaces[first].IPConfigs, c.config.IPPreference)
	sandbox.GivenNetwork = &sandboxstore.GivenNetwork{Plugin: sandbox.GivenNetwork.Plugin, Result: result}
	c.creations.Update(*sandbox)
	record, err := c.client.SandboxStore().Get(ctx, sandbox.ID)
	if err != nil {
		return nil, fmt.Errorf("read the record of sandbox %q: %w", sandbox.ID, err)
	}
	if record, err = c.recordSandbox(ctx, record, sandbox); err != nil {
		return nil, err
	}
	if err := podsandbox.SetNetworkSysctls(ctx, sandbox.NetNSPath, podsandbox.InterfaceSysctls(sandbox.Config)); err != nil {
		return nil, fmt.Errorf("set the sysctls of the interfaces of sandbox %q: %w", sandbox.ID, err)
	}
	warnOfPorts(ctx, sandbox)
	if sandbox.Sandboxer == string(criconfig.ModePodSandbox) {
		// Its record is that of its pause container, too.
		if err := c.sandboxService.UpdateSandbox(ctx, sandbox.Sandboxer, sandbox.ID, record, podsandbox.NetworkKey); err != nil {
			return nil, fmt.Errorf("add the addresses of sandbox %q to its container: %w", sandbox.ID, err)
		}
	}
	return append([]string{sandbox.IP}, sandbox.AdditionalIPs...), nil
}

// resultOf returns a network in the form in which the status of a pod has that of CNI. NRI has checked it.
func resultOf(network *adaptation.PodNetwork, netns string) (*cni.Result, error) {
	result := &cni.Result{Interfaces: map[string]*cni.Config{}}
	for _, i := range network.GetInterfaces() {
		config := &cni.Config{Mac: i.GetMac(), Sandbox: netns}
		for _, text := range i.GetAddresses() {
			address, _, err := net.ParseCIDR(text)
			if err != nil {
				return nil, fmt.Errorf("interface %s: %w", i.GetName(), err)
			}
			config.IPConfigs = append(config.IPConfigs, &cni.IPConfig{IP: address})
		}
		result.Interfaces[i.GetName()] = config
	}
	for _, r := range network.GetRoutes() {
		_, destination, err := net.ParseCIDR(r.GetDestination())
		if err != nil {
			return nil, fmt.Errorf("route: %w", err)
		}
		result.Routes = append(result.Routes, &types.Route{Dst: *destination, GW: net.ParseIP(r.GetGateway())})
	}
	if dns := network.GetDns(); dns != nil {
		result.DNS = []types.DNS{{Nameservers: dns.GetServers(), Domain: dns.GetDomain(), Search: dns.GetSearches(), Options: dns.GetOptions()}}
	}
	return result, nil
}

// admitByPlugin rejects a pod if the plugin that is to give its network has reported that this takes no pods.
func (c *criService) admitByPlugin(config *runtime.PodSandboxConfig) error {
	for _, g := range c.nri.NetworkGates() {
		if g.Network == nil {
			continue
		}
		networkRejectedPods.WithValues(g.Plugin).Inc()
		pod := config.GetMetadata()
		return fmt.Errorf("pod %s/%s needs the network: plugin %s takes no pods: %s: %w", pod.GetNamespace(), pod.GetName(), g.Plugin, g.Network.Reason(), errdefs.ErrUnavailable)
	}
	return nil
}

// noteStop records that the stop of a sandbox has begun, before its plugin takes the network down. After a kill
// the sandbox is not ready then, and plugins that have not received the stop do.
func (c *criService) noteStop(ctx context.Context, sb *sandboxstore.Sandbox) {
	if sb.GivenNetwork == nil || sb.Status.Get().Phase == sandboxstore.PhaseStopped {
		return
	}
	if err := c.phases.Enter(sb.ID, sandboxstore.PhaseStopping); err != nil {
		log.G(ctx).WithError(err).Warnf("a restart may show sandbox %q as ready after its network has gone", sb.ID)
	}
}

// gateReason is the reason of NetworkReady: that of the first plugin for which it is false. A plugin's
// codes are those of CNI's STATUS, and so are the reasons.
func gateReason(gates []nri.NetworkGate) string {
	for _, g := range gates {
		switch {
		case !g.Closed:
		case g.Network.GetCode() == 0:
			return nriPluginDisconnected
		case g.Network.GetCode() == 50:
			return networkReasons[netstatus.NotAvailable]
		case g.Network.GetCode() == 51:
			return networkReasons[netstatus.Degraded]
		default:
			return networkReasons[netstatus.OtherError]
		}
	}
	return nriPluginDisconnected
}

// warnOfPorts logs that ports of the host do not lead to a sandbox: NRI's messages have no ports.
func warnOfPorts(ctx context.Context, sb *sandboxstore.Sandbox) {
	for _, p := range sb.Config.GetPortMappings() {
		if p.GetHostPort() > 0 {
			log.G(ctx).Warnf("port %d of the host does not lead to sandbox %q: plugin %s gives its network, and does not receive ports", p.GetHostPort(), sb.ID, sb.GivenNetwork.Plugin)
		}
	}
}
