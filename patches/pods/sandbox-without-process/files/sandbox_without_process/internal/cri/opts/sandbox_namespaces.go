// SPDX-License-Identifier: Apache-2.0

package opts

import (
	"context"
	"fmt"

	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/oci"
)

// WithSandboxNamespaces is WithPodNamespaces for a sandbox that has no process. Its namespaces have
// paths. Which namespaces a container shares is decided by what its pod asked for, as it is where a
// container joins a process. Only a PID namespace of its own, or of targetPid, is the container's
// choice; targetPid is 0 if it targets no other container.
func WithSandboxNamespaces(config *runtime.LinuxContainerSecurityContext, pod *runtime.NamespaceOption, namespaces []runtimespec.LinuxNamespace, targetPid uint32, uids, gids []runtimespec.LinuxIDMapping) oci.SpecOpts {
	opts := []oci.SpecOpts{
		join(namespaces, runtimespec.NetworkNamespace, pod.GetNetwork()),
		join(namespaces, runtimespec.IPCNamespace, pod.GetIpc()),
		join(namespaces, runtimespec.UTSNamespace, pod.GetNetwork()), // CRI has no mode for it
	}
	asked := config.GetNamespaceOptions()
	switch {
	case targetPid != 0:
		opts = append(opts, oci.WithLinuxNamespace(runtimespec.LinuxNamespace{Type: runtimespec.PIDNamespace, Path: GetPIDNamespace(targetPid)}))
	case asked.GetPid() != runtime.NamespaceMode_CONTAINER:
		opts = append(opts, join(namespaces, runtimespec.PIDNamespace, pod.GetPid()))
	}
	if asked.GetUsernsOptions() != nil && asked.GetUsernsOptions().GetMode() == runtime.NamespaceMode_POD {
		opts = append(opts, join(namespaces, runtimespec.UserNamespace, runtime.NamespaceMode_POD), oci.WithUserNamespace(uids, gids))
	}
	return oci.Compose(opts...)
}

// join makes a container join the namespace of a kind that is in the list. If there is none, the
// mode that the pod asked for says whether the container is in that of the node or has its own. With
// any other mode the container would be in the wrong one, which is an error.
func join(namespaces []runtimespec.LinuxNamespace, kind runtimespec.LinuxNamespaceType, asked runtime.NamespaceMode) oci.SpecOpts {
	for _, n := range namespaces {
		if n.Type == kind && n.Path != "" {
			return oci.WithLinuxNamespace(n)
		}
	}
	switch asked {
	case runtime.NamespaceMode_NODE:
		return WithoutNamespace(kind)
	case runtime.NamespaceMode_CONTAINER:
		return oci.WithLinuxNamespace(runtimespec.LinuxNamespace{Type: kind})
	}
	return func(context.Context, oci.Client, *containers.Container, *oci.Spec) error {
		return fmt.Errorf("sandbox has neither a process nor a path for its %s namespace", kind)
	}
}
