// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"github.com/containerd/log"
	"github.com/containerd/typeurl/v2"
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	core "github.com/containerd/containerd/v2/core/sandbox"
	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	customopts "github.com/containerd/containerd/v2/internal/cri/opts"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/pkg/oci"
)

// sharedOf returns what the containers of a sandbox share, which is the specification that its shim
// has answered with. It is nil if containerd made the sandbox, and for a sandbox without namespaces
// on this host, such as a virtual machine.
func sharedOf(ctx context.Context, sandboxer string, answer typeurl.Any) *runtimespec.Spec {
	if sandboxer == string(criconfig.ModePodSandbox) || answer == nil {
		return nil
	}
	spec := &runtimespec.Spec{}
	if err := typeurl.UnmarshalTo(answer, spec); err != nil {
		log.G(ctx).WithError(err).Warn("containers share nothing of a sandbox whose specification is unreadable")
		return nil
	}
	if spec.Linux == nil {
		return nil
	}
	return spec
}

// noteShared notes what the shim of a new sandbox has said of it.
func noteShared(ctx context.Context, sandbox *sandboxstore.Sandbox, answer core.ControllerInstance) {
	sandbox.Shared = sharedOf(ctx, sandbox.Sandboxer, answer.Spec)
	sandbox.WithoutProcess = sandbox.Shared != nil && answer.Pid == 0
}

// withPodNamespaces makes a container join the namespaces of its sandbox: those of its process, or
// those with a path.
func (c *criService) withPodNamespaces(sandboxID string, config *runtime.LinuxContainerSecurityContext, sandboxPid, targetPid uint32, uids, gids []runtimespec.LinuxIDMapping) oci.SpecOpts {
	if sandboxPid == 0 {
		if sb, err := c.sandboxStore.Get(sandboxID); err == nil && sb.Shared != nil {
			pod := sb.Config.GetLinux().GetSecurityContext().GetNamespaceOptions()
			return customopts.WithSandboxNamespaces(config, pod, sb.Shared.Linux.Namespaces, targetPid, uids, gids)
		}
	}
	return customopts.WithPodNamespaces(config, sandboxPid, targetPid, uids, gids)
}

// sharedFile returns the file of a sandbox that its containers have at a path. made is where
// containerd makes it.
func (c *criService) sharedFile(sandboxID, path, made string) string {
	sb, err := c.sandboxStore.Get(sandboxID)
	if err != nil || sb.Shared == nil {
		return made
	}
	for _, m := range sb.Shared.Mounts {
		if m.Destination == path {
			return m.Source
		}
	}
	return made
}

// recoverShared notes after a restart what the shim of a sandbox has said of it. status is empty if the
// shim did not answer: then it is not known whether there is a process.
func recoverShared(ctx context.Context, sandbox *sandboxstore.Sandbox, record core.Sandbox, status core.ControllerStatus) {
	sandbox.Shared = sharedOf(ctx, record.Sandboxer, record.Spec)
	if sandbox.Shared == nil || status.State == "" {
		return
	}
	sandbox.WithoutProcess = status.Pid == 0
	_ = sandbox.Status.Update(func(s sandboxstore.Status) (sandboxstore.Status, error) {
		s.Pid = status.Pid
		if status.CreatedAt.Unix() > 0 { // some shims do not say it
			s.CreatedAt = status.CreatedAt
		}
		return s, nil
	}) // it only returns the function's error
}
