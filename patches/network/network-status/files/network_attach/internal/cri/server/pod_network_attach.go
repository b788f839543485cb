// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/containerd/go-cni"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/cri/annotations"
	"github.com/containerd/containerd/v2/internal/cri/netattach"
	"github.com/containerd/containerd/v2/internal/cri/podnet"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// attachPod runs CNI ADD for a sandbox. When the caller cancels, it returns once the processes
// that plugins started have ended (L7).
func (c *criService) attachPod(ctx context.Context, plugin cni.CNI, sandbox *sandboxstore.Sandbox, opts ...cni.NamespaceOpts) (*cni.Result, error) {
	serially := c.config.CniConfig.NetworkPluginSetupSerially
	network, ok := plugin.(*podnet.Network)
	switch {
	case ok:
		pod, err := attachedPod(sandbox.ID, sandbox.NetNSPath, sandbox.Config)
		if err != nil {
			return nil, err
		}
		return network.Attach(ctx, pod, serially)
	case serially:
		return plugin.SetupSerially(ctx, sandbox.ID, sandbox.NetNSPath, opts...)
	}
	return plugin.Setup(ctx, sandbox.ID, sandbox.NetNSPath, opts...)
}

// attachedPod returns a pod with the arguments of its ADD, see cniNamespaceOpts.
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
