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

// A container joins what its sandbox has. What the sandbox lacks is the node's if the pod asks for
// that, and else an error.
func TestWithSandboxNamespaces(t *testing.T) {
	namespace := func(kind runtimespec.LinuxNamespaceType) runtimespec.LinuxNamespace {
		return runtimespec.LinuxNamespace{Type: kind, Path: "/pinned/" + string(kind)}
	}
	network, ipc, uts := namespace(runtimespec.NetworkNamespace), namespace(runtimespec.IPCNamespace), namespace(runtimespec.UTSNamespace)
	pid, user := namespace(runtimespec.PIDNamespace), namespace(runtimespec.UserNamespace)
	own := runtimespec.LinuxNamespace{Type: runtimespec.PIDNamespace}

	for name, tc := range map[string]struct {
		asked   *runtime.NamespaceOption
		sandbox []runtimespec.LinuxNamespace
		target  uint32
		joins   []runtimespec.LinuxNamespace
		fails   string
	}{
		"all": {
			asked:   &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts},
			joins:   []runtimespec.LinuxNamespace{own, network, ipc, uts},
		},
		"the host's network": {
			asked:   &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER, Network: runtime.NamespaceMode_NODE},
			sandbox: []runtimespec.LinuxNamespace{ipc},
			joins:   []runtimespec.LinuxNamespace{own, ipc},
		},
		"all of the host's": {
			asked: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_NODE, Network: runtime.NamespaceMode_NODE, Ipc: runtime.NamespaceMode_NODE},
		},
		"another container's processes": {
			asked:   &runtime.NamespaceOption{Pid: runtime.NamespaceMode_TARGET},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts},
			target:  7,
			joins:   []runtimespec.LinuxNamespace{{Type: runtimespec.PIDNamespace, Path: "/proc/7/ns/pid"}, network, ipc, uts},
		},
		"processes and users of the sandbox": {
			asked:   &runtime.NamespaceOption{UsernsOptions: &runtime.UserNamespace{Mode: runtime.NamespaceMode_POD}},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts, pid, user},
			joins:   []runtimespec.LinuxNamespace{pid, network, ipc, uts, user},
		},
		"no network": {
			asked:   &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER},
			sandbox: []runtimespec.LinuxNamespace{ipc, uts},
			fails:   "path for its network namespace",
		},
		"a network without a path": {
			asked:   &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER},
			sandbox: []runtimespec.LinuxNamespace{{Type: runtimespec.NetworkNamespace}, ipc, uts},
			fails:   "path for its network namespace",
		},
		"no processes to share": {
			asked:   &runtime.NamespaceOption{},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts},
			fails:   "path for its pid namespace",
		},
		"no users": {
			asked:   &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER, UsernsOptions: &runtime.UserNamespace{Mode: runtime.NamespaceMode_POD}},
			sandbox: []runtimespec.LinuxNamespace{network, ipc, uts},
			fails:   "path for its user namespace",
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &oci.Spec{Linux: &runtimespec.Linux{Namespaces: []runtimespec.LinuxNamespace{
				own, {Type: runtimespec.NetworkNamespace}, {Type: runtimespec.IPCNamespace}, {Type: runtimespec.UTSNamespace},
			}}}
			config := &runtime.LinuxContainerSecurityContext{NamespaceOptions: tc.asked}
			err := WithSandboxNamespaces(config, tc.sandbox, tc.target, nil, nil)(t.Context(), nil, &containers.Container{}, spec)
			if tc.fails != "" {
				require.ErrorContains(t, err, tc.fails)
				return
			}
			require.NoError(t, err)
			require.ElementsMatch(t, tc.joins, spec.Linux.Namespaces)
		})
	}
}
