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
// paths. targetPid is the process whose PID namespace a container joins if it targets another
// container, else 0.
//
// If the sandbox lacks a namespace, the container is in that of the node if its pod asks for
// that. Otherwise it is an error: the container would be in the node's namespace or in one of its
// own.
func WithSandboxNamespaces(config *runtime.LinuxContainerSecurityContext, namespaces []runtimespec.LinuxNamespace, targetPid uint32, uids, gids []runtimespec.LinuxIDMapping) oci.SpecOpts {
	asked := config.GetNamespaceOptions()
	opts := []oci.SpecOpts{
		join(namespaces, runtimespec.NetworkNamespace, asked.GetNetwork()),
		join(namespaces, runtimespec.IPCNamespace, asked.GetIpc()),
		join(namespaces, runtimespec.UTSNamespace, asked.GetNetwork()), // CRI has no mode for it
	}
	switch {
	case targetPid != 0:
		opts = append(opts, oci.WithLinuxNamespace(runtimespec.LinuxNamespace{Type: runtimespec.PIDNamespace, Path: GetPIDNamespace(targetPid)}))
	case asked.GetPid() != runtime.NamespaceMode_CONTAINER:
		opts = append(opts, join(namespaces, runtimespec.PIDNamespace, asked.GetPid()))
	}
	if asked.GetUsernsOptions() != nil && asked.GetUsernsOptions().GetMode() == runtime.NamespaceMode_POD {
		opts = append(opts, join(namespaces, runtimespec.UserNamespace, runtime.NamespaceMode_POD), oci.WithUserNamespace(uids, gids))
	}
	return oci.Compose(opts...)
}

// join makes a container join the namespace of a kind that is in the list.
func join(namespaces []runtimespec.LinuxNamespace, kind runtimespec.LinuxNamespaceType, asked runtime.NamespaceMode) oci.SpecOpts {
	for _, n := range namespaces {
		if n.Type == kind && n.Path != "" {
			return oci.WithLinuxNamespace(n)
		}
	}
	if asked == runtime.NamespaceMode_NODE {
		return WithoutNamespace(kind)
	}
	return func(context.Context, oci.Client, *containers.Container, *oci.Spec) error {
		return fmt.Errorf("sandbox has neither a process nor a path for its %s namespace", kind)
	}
}
