// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/containerd/go-cni"
	"github.com/containerd/log"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/cri/annotations"
	"github.com/containerd/containerd/v2/internal/cri/netattach"
	"github.com/containerd/containerd/v2/internal/cri/podnet"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// detachPod takes a sandbox off its networks with what was kept of its ADD, and
// with what is loaded for the rest (N3). path is that of the network namespace,
// empty if it is gone.
func (c *criService) detachPod(ctx context.Context, plugin cni.CNI, sandbox sandboxstore.Sandbox, path string, opts ...cni.NamespaceOpts) error {
	network, ok := plugin.(*podnet.Network)
	if !ok {
		return plugin.Remove(ctx, sandbox.ID, path, opts...)
	}
	pod, err := attachedPod(sandbox.ID, path, sandbox.Config)
	if err != nil {
		return err
	}
	result, err := network.Detach(ctx, pod)
	networkKeptDetaches.Inc(float64(result.Replaced))

	logger := log.G(ctx).WithField("podsandboxid", sandbox.ID)
	addresses := append([]string{sandbox.IP}, sandbox.AdditionalIPs...)
	switch {
	case err == nil && result.Unknown() && sandbox.CNIResult != nil && path != "": // without a namespace it was done before
		networkLetGo.Inc()
		logger.Warnf("nothing was kept of the network of sandbox %q and no network is loaded: it is let go, and its addresses %v may have leaked", sandbox.Name, addresses)
	case err == nil && len(result.Unreadable) > 0:
		networkLetGo.Inc()
		logger.Warnf("what was kept of the network of sandbox %q cannot be read from %v: some of its addresses %v may have leaked", sandbox.Name, result.Unreadable, addresses)
	case err != nil && sandbox.CNIResult == nil:
		// Its ADD failed, and every plugin had its DEL. The caller goes on.
		networkLetGo.Inc()
		logger.WithError(err).Warnf("the network of sandbox %q, whose setup failed, was not taken down by all plugins", sandbox.Name)
	}
	return err
}

// attachedPod is what plugins got of a pod with its ADD, see cniNamespaceOpts.
func attachedPod(id, path string, config *runtime.PodSandboxConfig) (netattach.Pod, error) {
	pod := netattach.Pod{ID: id, NetNS: path, CapabilityArgs: map[string]any{
		annotations.PodAnnotations: config.GetAnnotations(),
	}}
	labels := toCNILabels(id, config)
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		pod.Args = append(pod.Args, [2]string{name, labels[name]})
	}
	bandwidth, err := toCNIBandWidth(config.GetAnnotations())
	if err != nil {
		return pod, fmt.Errorf("bandwidth of pod %s: %w", id, err)
	}
	if bandwidth != nil {
		pod.CapabilityArgs["bandwidth"] = *bandwidth
	}
	if ports := toCNIPortMappings(config.GetPortMappings()); len(ports) > 0 {
		pod.CapabilityArgs["portMappings"] = ports
	}
	if dns := toCNIDNS(config.GetDnsConfig()); dns != nil {
		pod.CapabilityArgs["dns"] = *dns
	}
	if cgroup := config.GetLinux().GetCgroupParent(); cgroup != "" {
		pod.CapabilityArgs["cgroupPath"] = cgroup
	}
	return pod, nil
}
