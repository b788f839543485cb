// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// All containers of a pod, also those that start after a restart, are in its namespaces and have its files.
func TestL25_ContainersShareTheNamespacesOfTheirPod(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	config := n.CRI().Pod("shares")
	config.DnsConfig = &runtime.DNSConfig{Servers: []string{"192.0.2.1"}, Searches: []string{"a.example"}, Options: []string{"ndots:5"}}
	config.Linux.Sysctls = map[string]string{"kernel.shmmax": "4096", "net.ipv4.ip_local_reserved_ports": "99", "net/ipv4/conf/eth0/forwarding": "1"}
	pod := runWatched(t, n, config)

	require.Zero(t, pod.GetPid())
	at := paths(pod)
	require.Len(t, at, 3, "its PID namespaces are those of its containers")
	assert.Equal(t, "shares", inside(t, n, at["uts"], "kernel/hostname"))
	assert.Equal(t, "4096", inside(t, n, at["ipc"], "kernel/shmmax"))
	assert.Equal(t, "99", inside(t, n, at["network"], "net/ipv4/ip_local_reserved_ports"))
	assert.Equal(t, "1", inside(t, n, at["network"], "net/ipv4/conf/eth0/forwarding"))
	assert.Equal(t, "0", inside(t, n, at["network"], "net/ipv4/ip_unprivileged_port_start"), "containerd's default for pods")

	_, first := runIn(t, n, pod.GetId(), config, "first")
	created := PodStatus(t, n, pod.GetId()).GetCreatedAt()
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	assert.Equal(t, created, PodStatus(t, n, pod.GetId()).GetCreatedAt())
	_, second := runIn(t, n, pod.GetId(), config, "second")
	for _, kind := range []string{"net", "ipc", "uts"} {
		assert.Equal(t, namespaceOf(t, first, kind), namespaceOf(t, second, kind), kind)
		assert.NotEqual(t, namespaceOf(t, os.Getpid(), kind), namespaceOf(t, second, kind), kind)
	}
	assert.NotEqual(t, namespaceOf(t, first, "pid"), namespaceOf(t, second, "pid"))

	seen := func(pid int, path string) string {
		content, err := os.ReadFile(filepath.Join(fmt.Sprintf("/proc/%d/root", pid), path))
		require.NoError(t, err)
		return string(content)
	}
	require.NoError(t, os.WriteFile(fmt.Sprintf("/proc/%d/root/dev/shm/note", first), []byte("shared"), 0o600))
	nodes, err := os.ReadFile("/etc/hosts")
	require.NoError(t, err)
	for _, m := range mountsOf(t, first, "/etc/hostname", "/etc/hosts", "/etc/resolv.conf") {
		assert.Contains(t, m.Root, "/root/io.containerd.", "not in the state folder, which is in memory: a container could fill it")
	}
	for _, pid := range []int{first, second} {
		assert.Equal(t, "shared", seen(pid, "dev/shm/note"))
		assert.Equal(t, "shares\n", seen(pid, "etc/hostname"))
		assert.Equal(t, string(nodes), seen(pid, "etc/hosts"))
		assert.Equal(t, "search a.example\nnameserver 192.0.2.1\noptions ndots:5\n", seen(pid, "etc/resolv.conf"))
	}
	RemoveAllPods(WithinAMinute(t), t, n.CRI())
	RequireNoSandboxLeft(t, n)
}

// What a pod shares with its node has no path in its message, and is the node's in its containers.
func TestL25_PodSharesWithItsNodeWhatItAsksFor(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	node := runtime.NamespaceMode_NODE
	for name, tc := range map[string]struct {
		asked *runtime.NamespaceOption
		own   []string
	}{
		"network":   {&runtime.NamespaceOption{Network: node, Pid: runtime.NamespaceMode_CONTAINER}, []string{"ipc"}},
		"ipc":       {&runtime.NamespaceOption{Ipc: node, Pid: runtime.NamespaceMode_CONTAINER}, []string{"network", "uts"}},
		"processes": {&runtime.NamespaceOption{Pid: node}, []string{"network", "ipc", "uts"}},
		"all":       {&runtime.NamespaceOption{Network: node, Ipc: node, Pid: node}, nil},
	} {
		config := n.CRI().Pod(name)
		config.Linux.SecurityContext.NamespaceOptions = tc.asked
		if tc.asked.Network == node {
			config.Hostname = "" // it is the node's
		}
		pod := runWatched(t, n, config)
		require.Zero(t, pod.GetPid(), name)
		at := paths(pod)
		require.Len(t, at, len(tc.own), name)
		for _, kind := range tc.own {
			require.NotEmpty(t, at[kind], "%s: %s", name, kind)
		}

		ctx := WithinAMinute(t)
		main := n.CRI().Container("main")
		main.Linux.SecurityContext.NamespaceOptions = tc.asked
		id, err := n.CRI().Create(ctx, pod.GetId(), config, main)
		require.NoError(t, err, name)
		require.NoError(t, n.CRI().Start(ctx, id), name)
		pid := processOf(ctx, t, n, id)
		for kind, file := range map[string]string{"network": "net", "ipc": "ipc", "uts": "uts"} {
			is := namespaceOf(t, pid, file) == namespaceOf(t, n.PID(), file)
			assert.Equal(t, at[kind] == "", is, "%s: %s", name, kind)
		}
		assert.Equal(t, tc.asked.Pid == node, namespaceOf(t, pid, "pid") == namespaceOf(t, n.PID(), "pid"), name)
	}
	RemoveAllPods(WithinAMinute(t), t, n.CRI())
	RequireNoSandboxLeft(t, n)
}

// The pod decides what its containers share, whatever a container asks for. The kubelet never sends
// such requests; crictl does, for a container whose file is silent.
func TestL25_PodDecidesWhatItsContainersShare(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	pod, own, node := runtime.NamespaceMode_POD, runtime.NamespaceMode_CONTAINER, runtime.NamespaceMode_NODE
	for name, tc := range map[string]struct {
		asked     *runtime.NamespaceOption // by the pod
		container runtime.NamespaceMode    // for its processes
		nodes     map[string]bool          // the namespaces of its container that are the node's
	}{
		"silent":           {&runtime.NamespaceOption{Pid: own}, pod, nil},
		"the node's":       {&runtime.NamespaceOption{Pid: own}, node, nil},
		"silent on a node": {&runtime.NamespaceOption{Pid: node, Ipc: node, Network: node}, pod, map[string]bool{"pid": true, "ipc": true, "net": true, "uts": true}},
	} {
		config := n.CRI().Pod(name)
		config.Linux.SecurityContext.NamespaceOptions = tc.asked
		if tc.asked.Network == node {
			config.Hostname = "" // it is the node's
		}
		sandbox := runWatched(t, n, config)
		require.Zero(t, sandbox.GetPid(), name)
		ctx := WithinAMinute(t)
		main := n.CRI().Container("main")
		main.Linux.SecurityContext.NamespaceOptions = &runtime.NamespaceOption{Pid: tc.container}
		id, err := n.CRI().Create(ctx, sandbox.GetId(), config, main)
		require.NoError(t, err, name)
		require.NoError(t, n.CRI().Start(ctx, id), name)
		pid := processOf(ctx, t, n, id)
		for _, kind := range []string{"pid", "ipc", "net", "uts"} {
			assert.Equal(t, tc.nodes[kind], namespaceOf(t, pid, kind) == namespaceOf(t, n.PID(), kind), "%s: %s", name, kind)
		}
	}
	RemoveAllPods(WithinAMinute(t), t, n.CRI())
	RequireNoSandboxLeft(t, n)
}

// A pod that needs a process has the pause container, with the same runtime handler.
func TestL25_PodThatNeedsAProcessHasOne(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	users := []*runtime.IDMapping{{HostId: 100000, Length: 65536}}
	for name, asked := range map[string]*runtime.NamespaceOption{
		"processes": {Pid: runtime.NamespaceMode_POD},
		"users": {Pid: runtime.NamespaceMode_CONTAINER, UsernsOptions: &runtime.UserNamespace{
			Mode: runtime.NamespaceMode_POD, Uids: users, Gids: users,
		}},
	} {
		config := n.CRI().Pod(name)
		config.Linux.SecurityContext.NamespaceOptions = asked
		pod := runWatched(t, n, config)
		require.NotZero(t, pod.GetPid(), name)

		ctx := WithinAMinute(t)
		main := n.CRI().Container("main")
		main.Linux.SecurityContext.NamespaceOptions = asked
		id, err := n.CRI().Create(ctx, pod.GetId(), config, main)
		require.NoError(t, err, name)
		require.NoError(t, n.CRI().Start(ctx, id), name)
		pid := processOf(ctx, t, n, id)
		for _, kind := range []string{"net", "ipc", "uts", "user"} {
			assert.Equal(t, namespaceOf(t, int(pod.GetPid()), kind), namespaceOf(t, pid, kind), "%s: %s", name, kind)
		}
		shares := namespaceOf(t, int(pod.GetPid()), "pid") == namespaceOf(t, pid, "pid")
		assert.Equal(t, asked.Pid == runtime.NamespaceMode_POD, shares, name)
		program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", ParentProcess(t, pid)))
		require.NoError(t, err)
		assert.True(t, strings.HasSuffix(program, "sandboxed-runc-v2"), program)
	}
	RemoveAllPods(WithinAMinute(t), t, n.CRI())
	RequireNoSandboxLeft(t, n)
}

// A sysctl that would change the node fails the pod.
func TestL25_PodChangesNoSysctlOfItsNode(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	for _, name := range []string{"vm.swappiness", "net/../kernel/panic", "kernel.panic"} {
		config := n.CRI().Pod("changes")
		config.Linux.Sysctls = map[string]string{name: "1"}
		_, err := n.CRI().RunPod(WithinAMinute(t), config)
		require.ErrorContains(t, err, name)
	}
	RequireNoSandboxLeft(t, n)
}

// /proc/sys is read-only for containerd and its shims, as with systemd's ProtectKernelTunables.
func TestL25_PodHasItsSysctlsWhereContainerdMayNotSetThem(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.ReadOnlySysctls())
	require.NoError(t, n.Boot(WithinAMinute(t)))
	config := n.CRI().Pod("web")
	config.Linux.Sysctls = map[string]string{"kernel.shmmax": "4096", "net.ipv4.ip_local_reserved_ports": "99"}
	at := paths(runWatched(t, n, config))
	assert.Equal(t, "4096", inside(t, n, at["ipc"], "kernel/shmmax"))
	assert.Equal(t, "99", inside(t, n, at["network"], "net/ipv4/ip_local_reserved_ports"))
	assert.Equal(t, "0", inside(t, n, at["network"], "net/ipv4/ip_unprivileged_port_start"))
	RemoveAllPods(WithinAMinute(t), t, n.CRI())
	RequireNoSandboxLeft(t, n)
}

// The hostname of a node is not for pods to set.
func TestL25_PodOnTheNetworkOfItsNodeHasNoOtherHostname(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	config := n.CRI().Pod("other")
	config.Linux.SecurityContext.NamespaceOptions.Network = runtime.NamespaceMode_NODE
	_, err := n.CRI().RunPod(WithinAMinute(t), config)
	require.ErrorContains(t, err, "hostname of the node")
	RequireNoSandboxLeft(t, n)
}
