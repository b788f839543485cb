// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"time"

	"github.com/containerd/go-cni"
	"github.com/containerd/log"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/cri/podnet"
	"github.com/containerd/go-cni/netstatus"
)

// networkReasons are the reasons of NetworkReady when it is false.
var networkReasons = map[netstatus.State]string{
	netstatus.NotInitialized: networkNotReadyReason,
	netstatus.Unknown:        "NetworkStatusUnknown",
	netstatus.TryAgain:       "NetworkTryAgainLater",
	netstatus.NotAvailable:   "NetworkNotAvailable",
	netstatus.Degraded:       "NetworkDegraded",
	netstatus.OtherError:     "NetworkStatusError",
	netstatus.ExecFailed:     "NetworkStatusExecFailed",
	netstatus.TimedOut:       "NetworkStatusTimeout",
}

// watchNetworks has STATUS of each network run in the background.
func (c *criService) watchNetworks() error {
	interval, timeout, err := c.config.NetworkStatusTimes()
	if err != nil {
		return err
	}
	for name, plugin := range c.netPlugin {
		c.netPlugin[name] = podnet.New(plugin, podnet.Options{Status: netstatus.Options{
			Interval: interval,
			Timeout:  timeout,
			Observer: networkObserver{of: name, log: log.L},
		}})
	}
	return nil
}

// networks returns all networks, by the name of their runtime handler, or "default".
func (c *criService) networks() map[string]*podnet.Network {
	all := map[string]*podnet.Network{}
	for name, plugin := range c.netPlugin {
		if network, ok := plugin.(*podnet.Network); ok {
			all[name] = network
		}
	}
	return all
}

// closeNetworks stops all work of the networks in the background.
func (c *criService) closeNetworks() {
	for _, network := range c.networks() {
		network.Close()
	}
}

// setNetworkCondition writes the last STATUS of the network into NetworkReady. It waits only for
// the first answer, and not for long (N1).
func setNetworkCondition(ctx context.Context, plugin cni.CNI, condition *runtime.RuntimeCondition) {
	network, ok := plugin.(*podnet.Network)
	if !ok {
		return
	}
	s := network.Answer(ctx)
	condition.Status, condition.Reason, condition.Message = s.Ready(), "", ""
	if !s.Ready() {
		condition.Reason = networkReasons[s.State]
		condition.Message = fmt.Sprintf("Network plugin returns error: %s", s)
	}
}

// networkInfo is the verbose status of a network.
type networkInfo struct {
	Ready   bool      `json:"ready"`
	State   string    `json:"state"`
	Network string    `json:"network,omitempty"` // the worst of several
	Plugin  string    `json:"plugin,omitempty"`  // the plugin that failed
	Code    uint      `json:"code,omitempty"`    // the code of the CNI error
	Message string    `json:"message,omitempty"`
	Details string    `json:"details,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Asked   time.Time `json:"asked,omitzero"`
	Took    string    `json:"took"`
}

// networksFirstWait is how long verbose status waits for the first answers of all networks
// together.
const networksFirstWait = time.Second

// networkInfos returns the networkInfo of each network.
func (c *criService) networkInfos(ctx context.Context) map[string]networkInfo {
	ctx, cancel := context.WithTimeout(ctx, networksFirstWait)
	defer cancel()
	all := map[string]networkInfo{}
	for name, network := range c.networks() {
		s := network.Answer(ctx)
		all[name] = networkInfo{
			Ready: s.Ready(), State: s.State.String(), Network: s.Network, Plugin: s.Plugin, Code: s.Code,
			Message: s.Message, Details: s.Details, Since: s.Since, Asked: s.Asked, Took: s.Took.String(),
		}
	}
	return all
}

// admitToNetwork rejects a pod if it needs a network that takes no pods (N2).
func (c *criService) admitToNetwork(ctx context.Context, config *runtime.PodSandboxConfig, handler string) error {
	if !c.config.NetworkStatusGate || hostNetwork(config) {
		return nil
	}
	network, ok := c.getNetworkPlugin(handler).(*podnet.Network)
	if !ok {
		return nil
	}
	if err := network.TakesPods(ctx); err != nil {
		networkRejectedPods.WithValues(c.networkName(handler)).Inc()
		pod := config.GetMetadata()
		return fmt.Errorf("pod %s/%s needs the network: %w", pod.GetNamespace(), pod.GetName(), err)
	}
	return nil
}

// networkName is the name of the network of a runtime handler, see networks.
func (c *criService) networkName(handler string) string {
	if _, own := c.netPlugin[handler]; own {
		return handler
	}
	return defaultNetworkPlugin
}
