// SPDX-License-Identifier: Apache-2.0

package cri

import runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

// Pod is the configuration of a pod with a network of its own. Two pods of the same
// name are the same pod to the runtime, and cannot exist at the same time, until Own changes.
func (c *Client) Pod(name string) *runtime.PodSandboxConfig {
	return &runtime.PodSandboxConfig{
		Metadata: &runtime.PodSandboxMetadata{Name: name, Namespace: "default", Uid: name + "-uid" + c.Own},
		Hostname: name,
		Labels:   map[string]string{"app": name},
		Linux: &runtime.LinuxPodSandboxConfig{
			CgroupParent: c.cgroupParent,
			SecurityContext: &runtime.LinuxSandboxSecurityContext{
				NamespaceOptions: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER},
			},
		},
	}
}

// Container is the configuration of a container that runs until it is stopped. The
// arguments are those of the program in testkit/pause.
func (c *Client) Container(name string, args ...string) *runtime.ContainerConfig {
	return &runtime.ContainerConfig{
		Metadata: &runtime.ContainerMetadata{Name: name},
		Labels:   map[string]string{"io.kubernetes.container.name": name},         // as in the kubelet's: CRI-O's names for plugins come from it
		Image:    &runtime.ImageSpec{Image: c.image, UserSpecifiedImage: c.image}, // both, as the kubelet sends them: CRI-O needs both
		Args:     args,
		Linux: &runtime.LinuxContainerConfig{
			SecurityContext: &runtime.LinuxContainerSecurityContext{
				NamespaceOptions: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER},
			},
		},
	}
}
