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

// sharedOf returns what the containers of a sandbox share, by the specification that its shim has
// answered with. It is nil if containerd made the sandbox, and for a sandbox without namespaces on
// this host, such as a virtual machine.
func sharedOf(ctx context.Context, sandboxer string, answer typeurl.Any) *sandboxstore.Shared {
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
	shared := &sandboxstore.Shared{Namespaces: spec.Linux.Namespaces, Files: map[string]string{}}
	for _, m := range spec.Mounts {
		shared.Files[m.Destination] = m.Source
	}
	return shared
}

// withPodNamespaces makes a container join the namespaces of its sandbox: those of its process, or
// those with a path.
func (c *criService) withPodNamespaces(sandboxID string, config *runtime.LinuxContainerSecurityContext, sandboxPid, targetPid uint32, uids, gids []runtimespec.LinuxIDMapping) oci.SpecOpts {
	if sandboxPid == 0 {
		if sb, err := c.sandboxStore.Get(sandboxID); err == nil && sb.Shared != nil {
			pod := sb.Config.GetLinux().GetSecurityContext().GetNamespaceOptions()
			return customopts.WithSandboxNamespaces(config, pod, sb.Shared.Namespaces, targetPid, uids, gids)
		}
	}
	return customopts.WithPodNamespaces(config, sandboxPid, targetPid, uids, gids)
}

// sharedFile returns the file of a sandbox that its containers have at a path. made is where
// containerd makes it.
func (c *criService) sharedFile(sandboxID, path, made string) string {
	sb, err := c.sandboxStore.Get(sandboxID)
	if err != nil || sb.Shared == nil || sb.Shared.Files[path] == "" {
		return made
	}
	return sb.Shared.Files[path]
}

// controllerStatus returns the status of a sandbox as its controller has it. All of it is known here
// if the sandbox has no process, so a shim that does not answer delays no kubelet. Only a verbose
// status has more.
func (c *criService) controllerStatus(ctx context.Context, sandbox sandboxstore.Sandbox, verbose bool) (core.ControllerStatus, error) {
	status := sandbox.Status.Get()
	if sandbox.Shared == nil || status.Pid != 0 || verbose {
		return c.sandboxService.SandboxStatus(ctx, sandbox.Sandboxer, sandbox.ID, verbose)
	}
	state := runtime.PodSandboxState_SANDBOX_NOTREADY
	if status.State == sandboxstore.StateReady {
		state = runtime.PodSandboxState_SANDBOX_READY
	}
	return core.ControllerStatus{SandboxID: sandbox.ID, State: state.String(), CreatedAt: status.CreatedAt}, nil
}
