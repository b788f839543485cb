// SPDX-License-Identifier: Apache-2.0

package opts

import (
	"testing"

	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/oci"
)

// A container joins what its sandbox has. What the sandbox lacks is what the pod asked for: the
// node's, or the container's own.
func TestWithSandboxNamespaces(t *testing.T) {
	namespace := func(kind runtimespec.LinuxNamespaceType) runtimespec.LinuxNamespace {
		return runtimespec.LinuxNamespace{Type: kind, Path: "/pinned/" + string(kind)}
	}
	network, ipc, uts := namespace(runtimespec.NetworkNamespace), namespace(runtimespec.IPCNamespace), namespace(runtimespec.UTSNamespace)
	pid, user := namespace(runtimespec.PIDNamespace), namespace(runtimespec.UserNamespace)
	own := runtimespec.LinuxNamespace{Type: runtimespec.PIDNamespace}

	for name, tc := range map[string]struct {
		pod     *runtime.NamespaceOption
		asked   *runtime.NamespaceOption // by the container; nil: the same
		sandbox []runtimespec.LinuxNamespace
		target  uint32
		joins   []runtimespec.LinuxNamespace
		fails   string
	}{
		"all": {
			pod:     &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts},
			joins:   []runtimespec.LinuxNamespace{own, network, ipc, uts},
		},
		"the host's network": {
			pod:     &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER, Network: runtime.NamespaceMode_NODE},
			sandbox: []runtimespec.LinuxNamespace{ipc},
			joins:   []runtimespec.LinuxNamespace{own, ipc},
		},
		"all of the host's": {
			pod: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_NODE, Network: runtime.NamespaceMode_NODE, Ipc: runtime.NamespaceMode_NODE},
		},
		"what the pod asked for, and not the container": {
			pod:   &runtime.NamespaceOption{Pid: runtime.NamespaceMode_NODE, Network: runtime.NamespaceMode_NODE, Ipc: runtime.NamespaceMode_NODE},
			asked: &runtime.NamespaceOption{},
		},
		"no processes that are shared": {
			pod:     &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER},
			asked:   &runtime.NamespaceOption{},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts},
			joins:   []runtimespec.LinuxNamespace{own, network, ipc, uts},
		},
		"its own processes": {
			pod:     &runtime.NamespaceOption{Pid: runtime.NamespaceMode_NODE},
			asked:   &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts},
			joins:   []runtimespec.LinuxNamespace{own, network, ipc, uts},
		},
		"another container's processes": {
			pod:     &runtime.NamespaceOption{Pid: runtime.NamespaceMode_TARGET},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts},
			target:  7,
			joins:   []runtimespec.LinuxNamespace{{Type: runtimespec.PIDNamespace, Path: "/proc/7/ns/pid"}, network, ipc, uts},
		},
		"processes and users of the sandbox": {
			pod:     &runtime.NamespaceOption{UsernsOptions: &runtime.UserNamespace{Mode: runtime.NamespaceMode_POD}},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts, pid, user},
			joins:   []runtimespec.LinuxNamespace{pid, network, ipc, uts, user},
		},
		"no network": {
			pod:     &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER},
			sandbox: []runtimespec.LinuxNamespace{ipc, uts},
			fails:   "path for its network namespace",
		},
		"a network without a path": {
			pod:     &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER},
			sandbox: []runtimespec.LinuxNamespace{{Type: runtimespec.NetworkNamespace}, ipc, uts},
			fails:   "path for its network namespace",
		},
		"no processes to share": {
			pod:     &runtime.NamespaceOption{},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts},
			fails:   "path for its pid namespace",
		},
		"no users": {
			pod:     &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER, UsernsOptions: &runtime.UserNamespace{Mode: runtime.NamespaceMode_POD}},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts},
			fails:   "path for its user namespace",
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &oci.Spec{Linux: &runtimespec.Linux{Namespaces: []runtimespec.LinuxNamespace{
				own, {Type: runtimespec.NetworkNamespace}, {Type: runtimespec.IPCNamespace}, {Type: runtimespec.UTSNamespace},
			}}}
			asked := tc.asked
			if asked == nil {
				asked = tc.pod
			}
			config := &runtime.LinuxContainerSecurityContext{NamespaceOptions: asked}
			err := WithSandboxNamespaces(config, tc.pod, tc.sandbox, tc.target, nil, nil)(t.Context(), nil, &containers.Container{}, spec)
			if tc.fails != "" {
				require.ErrorContains(t, err, tc.fails)
				return
			}
			require.NoError(t, err)
			require.ElementsMatch(t, tc.joins, spec.Linux.Namespaces)
		})
	}
}
