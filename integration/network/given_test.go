// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A node without any CNI configuration is ready once the example plugin is connected. Its pods have two
// addresses, and reach each other. Their network goes with their stop.
func TestN5_NodeWithoutCNI(t *testing.T) {
	t.Parallel()
	onEachPause(t, func(t *testing.T, change func(*node.Options)) {
		b := startBridged(t, change)
		b.requireDown("NRIPluginDisconnected", "required plugin bridge is disconnected")
		b.runPlugin()
		one, two := b.run("one"), b.run("two")
		for _, pod := range []addressed{one, two} {
			require.Len(t, pod.ips, 2)
			assert.Contains(t, pod.ips[0], "10.88.0.")
			assert.Contains(t, pod.ips[1], "fd00:88::")
			has, err := b.Addresses(pod.netns, "eth0")
			require.NoError(t, err)
			assert.Equal(t, pod.ips[:1], has)
		}
		b.requireTalk(one, two)
		b.requireTalk(two, one)
		b.requireTalk(one, one)
		b.requireTaken(one, two)

		ctx := WithinAMinute(t)
		b.requireReachesNode(two)
		require.NoError(t, b.CRI().RemovePod(ctx, one.id))
		b.requireTaken(two)
		b.requireReachesNode(two)
		require.NoError(t, b.CRI().RemovePod(ctx, two.id))
		RequireLife(ctx, t, b, OnHostNetwork(b.CRI().Pod("host")))
		b.requireTaken()
	})
}

// The plugin is killed, and containerd too: pods keep their network, and what ends meanwhile is freed when
// the plugin is back.
func TestN6_NetworkGoesThoughThePluginWasKilled(t *testing.T) {
	t.Parallel()
	b := startBridged(t)
	b.runPlugin()
	stays, stops, goes := b.run("stays"), b.run("stops"), b.run("goes")
	b.killPlugin()
	ctx := WithinAMinute(t)
	require.NoError(t, b.CRI().RemovePod(ctx, goes.id))
	b.restart("bin")
	require.NoError(t, b.CRI().StopPod(ctx, stops.id))
	assert.Equal(t, stays.ips, b.ips(stays.id))
	b.runPlugin()
	b.requireTaken(stays)
	more := b.run("more")
	b.requireTalk(more, stays)
	RemoveAllPods(WithinAMinute(t), t, b.CRI())
	b.requireTaken()
}

// A runtime handler with a CNI configuration of its own keeps CNI, and needs no plugin.
func TestN5_HandlerWithItsOwnCNI(t *testing.T) {
	t.Parallel()
	onlyPatched(t)
	conf := t.TempDir()
	network := `{"cniVersion": "1.0.0", "name": "own", "plugins": [{"type": "ptp", "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.99.0.0/24"}]]}}]}`
	require.NoError(t, os.WriteFile(filepath.Join(conf, "10-own.conflist"), []byte(network), 0o600))
	n := StartNode(t, WithConfig(byBridge+"[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.other]\nruntime_type = 'io.containerd.runc.v2'\ncni_conf_dir = '"+conf+"'\n"))
	ctx := WithinAMinute(t)
	r, err := n.CRI().Runtime.RunPodSandbox(ctx, &runtime.RunPodSandboxRequest{Config: n.CRI().Pod("own"), RuntimeHandler: "other"})
	require.NoError(t, err)
	status, err := n.CRI().Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: r.GetPodSandboxId()})
	require.NoError(t, err)
	assert.Contains(t, status.GetStatus().GetNetwork().GetIp(), "10.99.0.")
	require.NoError(t, n.CRI().RemovePod(ctx, r.GetPodSandboxId()))
	RequireNothingLeft(t, n)
}

// Containerd is killed when the plugin has taken the network down, and another one has not answered. The pod is
// not ready after that, its addresses stay free, and the other plugin receives the stop.
func TestN6_KilledInTheStop(t *testing.T) {
	t.Parallel()
	onEachPause(t, func(t *testing.T, change func(*node.Options)) {
		b := startBridged(t, change)
		b.runPlugin()
		holder, gate := plugin.New("70", "holder"), plugin.NewGate()
		holder.On(plugin.StopPodSandbox, gate.Hold)
		Connect(t, b, holder)
		pod := b.run("stopped")
		stopped := InBackground(func() error { return b.CRI().StopPod(WithinAMinute(t), pod.id) })
		b.requireTaken()
		b.restart("bin")
		gate.Release()
		require.Error(t, <-stopped)
		RequireNetworkReady(t, b)
		require.Equal(t, runtime.PodSandboxState_SANDBOX_NOTREADY, PodState(t, b.Node, pod.id))
		other := b.run("other")
		b.requireTaken(other)
		require.NoError(t, holder.Connect(WithinAMinute(t), b.NRISocket()))
		RemoveAllPods(WithinAMinute(t), t, b.CRI())
		require.Len(t, holder.Calls().Of(pod.id).Only(plugin.StopPodSandbox), 2)
		b.requireTaken()
	})
}

// Sysctls of an interface hold once the plugin has made it.
func TestN5_SysctlsOfAnInterface(t *testing.T) {
	t.Parallel()
	onEachPause(t, func(t *testing.T, change func(*node.Options)) {
		b := startBridged(t, change)
		b.runPlugin()
		config := b.CRI().Pod("set")
		config.Linux.Sysctls = map[string]string{"net.ipv4.conf.eth0.rp_filter": "2", "net.ipv4.ip_forward": "1"}
		pod, err := b.CRI().RunPod(WithinAMinute(t), config)
		require.NoError(t, err)
		netns := NetworkNamespace(b.paths.Calls().Of(pod).Only(plugin.RunPodSandbox)[0].Pod)
		for file, want := range map[string]string{"net/ipv4/conf/eth0/rp_filter": "2", "net/ipv4/ip_forward": "1"} {
			has, err := b.Sysctl(netns, file)
			require.NoError(t, err)
			assert.Equal(t, want, has)
		}
		config = b.CRI().Pod("rejected")
		config.Linux.Sysctls = map[string]string{"net.ipv4.conf.eth9.rp_filter": "2"}
		_, err = b.CRI().RunPod(WithinAMinute(t), config)
		require.ErrorContains(t, err, "set the sysctls of the interfaces of sandbox")
		RemoveAllPods(WithinAMinute(t), t, b.CRI())
		b.requireTaken()
	})
}

// A plugin says that its network takes no pods: its bridge is down, or was removed.
func TestN7_PluginReportsItsBridge(t *testing.T) {
	t.Parallel()
	b := startBridged(t)
	b.runPlugin()
	pod := b.run("before")
	link := func(change func(netlink.Link) error) {
		require.NoError(t, b.Within(func() error {
			l, err := netlink.LinkByName("bridge0")
			if err != nil {
				return err
			}
			return change(l)
		}))
	}
	hardware := func() (address net.HardwareAddr) {
		link(func(l netlink.Link) error { address = l.Attrs().HardwareAddr; return nil })
		return address
	}
	remembered := hardware() // by pods
	link(netlink.LinkSetDown)
	b.requireDown("NetworkDegraded", "plugin bridge takes no pods: the bridge is down (code 51)")
	_, err := b.CRI().RunPod(WithinAMinute(t), b.CRI().Pod("rejected"))
	require.ErrorContains(t, err, "pod default/rejected needs the network: plugin bridge takes no pods: the bridge is down (code 51)")
	link(netlink.LinkSetUp)
	RequireNetworkReady(t, b)
	link(netlink.LinkDel)
	b.requireDown("NetworkDegraded", "the bridge does not exist")
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.Flags = "bridge0", net.FlagUp
	require.NoError(t, b.Within(func() error { return netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attrs}) }))
	RequireNetworkReady(t, b)
	require.Equal(t, remembered, hardware())
	b.requireTalk(b.run("made-anew"), pod)
	b.requireReachesNode(pod)
	link(netlink.LinkDel)
	b.requireDown("NetworkDegraded", "the bridge does not exist")

	// A plugin that crashes in this state does not open the gate, and neither does a restart. One that
	// comes back connects the pods to its bridge again.
	b.killPlugin()
	b.restart("bin")
	c, err := NetworkCondition(WithinAMinute(t), b)
	require.NoError(t, err)
	assert.False(t, c.GetStatus())
	b.runPlugin()
	require.Equal(t, remembered, hardware())
	b.requireTalk(b.run("after"), pod)
	b.requireReachesNode(pod)
	RemoveAllPods(WithinAMinute(t), t, b.CRI())
	b.requireTaken()
}

// Pods with such a network survive a move to the released containerd, which stops them without CNI, and back.
func TestN6_PodsMoveToStockAndBack(t *testing.T) {
	t.Parallel()
	b := startBridged(t)
	b.runPlugin()
	stays, ends := b.run("stays"), b.run("ends")
	b.restart("stock", "bin")
	for _, pod := range []addressed{stays, ends} {
		require.Equal(t, runtime.PodSandboxState_SANDBOX_READY, PodState(t, b.Node, pod.id))
		assert.Equal(t, pod.ips, b.ips(pod.id))
	}
	b.requireTalk(stays, ends)
	require.NoError(t, b.CRI().RemovePod(WithinAMinute(t), ends.id))
	b.restart("bin")
	RequireNetworkReady(t, b)
	assert.Equal(t, stays.ips, b.ips(stays.id))
	b.requireTaken(stays)
	require.NoError(t, b.CRI().RemovePod(WithinAMinute(t), stays.id))
	b.requireTaken()
}
